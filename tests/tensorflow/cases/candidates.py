"""Embeddings by sparse ids, and losses over sampled classes with their samplers."""

from __future__ import annotations

from tests.tensorflow.cases._common import fill, first_only, grads, tensor
from tests.tensorflow.harness import attempt, case, cases

PLACES = [[0, 0], [0, 1], [1, 0], [3, 1]]
IDS = [1, 3, 0, 1]


def table(tf, dtype="float32", shape=(5, 3)):
    return tensor(tf, fill(shape), dtype)


def ids(tf, values=IDS, places=PLACES, shape=(4, 2)):
    return tf.SparseTensor(places, tf.constant(values, tf.int64), shape)


def scale(tf, values, places=PLACES, shape=(4, 2)):
    return tf.SparseTensor(places, values, shape)


# ------------------------------------------------------------------------------- embeddings


@cases(combiner=["sum", "mean", "sqrtn", None], weighted=[False, True], max_norm=[None, 1.5])
def lookup_sparse(tf, combiner, weighted, max_norm):
    def call(x, w):
        weights = scale(tf, w) if weighted else None
        # Times one, so that the gradient is dense: the order of its rows is nobody's.
        return tf.nn.embedding_lookup_sparse(x * 1.0, ids(tf), weights, combiner, max_norm)

    return grads(tf, call, table(tf), tensor(tf, [0.5, 2.0, 1.5, 0.25]))


@cases(
    given={
        "combiner": lambda tf, x: tf.nn.embedding_lookup_sparse(x, ids(tf), None, "max"),
        "dense_ids": lambda tf, x: tf.nn.embedding_lookup_sparse(x, [[1]], None),
        "dense_weights": lambda tf, x: tf.nn.embedding_lookup_sparse(x, ids(tf), [1.0]),
        "list": lambda tf, x: tf.nn.embedding_lookup_sparse([x * 1.0], ids(tf), None),
        "fast": lambda tf, x: tf.nn.embedding_lookup_sparse(
            x * 1.0, ids(tf), None, allow_fast_lookup=True
        ),
        "vectors": lambda tf, x: tf.nn.embedding_lookup_sparse(x[:, 0], ids(tf), None, "sum"),
        "half": lambda tf, x: tf.nn.embedding_lookup_sparse(
            tf.cast(x * 1.0, tf.float16), ids(tf), scale(tf, [0.5, 2.0, 1.5, 0.25]), "mean"
        ),
        "ragged": lambda tf, x: tf.nn.embedding_lookup_sparse(
            x * 1.0, tf.ragged.constant([[1, 3], [0], [4, 4, 2]]), None, "sum"
        ),
        "ragged_weights": lambda tf, x: tf.nn.embedding_lookup_sparse(
            x * 1.0,
            tf.ragged.constant([[1, 3], [0]]),
            tf.ragged.constant([[0.5, 2.0], [3.0]]),
            "mean",
        ),
        "out_of_range": lambda tf, x: tf.nn.embedding_lookup_sparse(x, ids(tf, [1, 3, 0, 9]), None),
        "safe": lambda tf, x: tf.nn.safe_embedding_lookup_sparse(x * 1.0, ids(tf)),
        "safe_default": lambda tf, x: tf.nn.safe_embedding_lookup_sparse(
            x * 1.0, ids(tf, [1, -1, -1, 1]), default_id=2
        ),
        "safe_sum": lambda tf, x: tf.nn.safe_embedding_lookup_sparse(
            x * 1.0, ids(tf, [1, -1, 2, 1]), scale(tf, [1.0, 2.0, -1.0, 0.0]), "sum"
        ),
        "safe_weights": lambda tf, x: tf.nn.safe_embedding_lookup_sparse(
            x * 1.0, ids(tf), scale(tf, [1.0, 2.0, -1.0, 0.5]), "sqrtn"
        ),
        "safe_norm": lambda tf, x: tf.nn.safe_embedding_lookup_sparse(
            [x * 1.0], ids(tf), max_norm=0.5
        ),
        "safe_deep": lambda tf, x: tf.nn.safe_embedding_lookup_sparse(
            x * 1.0,
            ids(tf, [1, 2, 3], [[0, 0, 0], [0, 2, 1], [1, 1, 0]], (2, 3, 2)),
        ),
        "safe_none": lambda tf, x: tf.nn.safe_embedding_lookup_sparse(None, ids(tf)),
        "safe_combiner": lambda tf, x: tf.nn.safe_embedding_lookup_sparse(
            x, ids(tf), combiner="max"
        ),
    }
)
def lookup_sparse_arguments(tf, given):
    return first_only(tf, lambda x: given(tf, x), table(tf))


# --------------------------------------------------------------------------------- samplers


@cases(
    op=["uniform", "log_uniform", "learned_unigram"],
    unique=[True, False],
    seed={"none": None, "own": 3},
)
def samplers(tf, op, unique, seed):
    tf.random.set_seed(5)
    call = getattr(tf.random, f"{op}_candidate_sampler")
    true = tf.constant([[1, 4], [2, 0], [7, 1]], tf.int64)
    return [call(true, 2, 5, unique, 16, seed=seed) for _ in range(3)]


@cases(op=["uniform", "log_uniform", "learned_unigram"])
def samplers_large(tf, op):
    tf.random.set_seed(6)
    call = getattr(tf.random, f"{op}_candidate_sampler")
    return call([[1], [200]], 1, 64, True, 1000), call([[3]], 1, 20, True, 20, seed=1)


@cases(
    given={
        "fixed": {"unigrams": [1.0, 2.0, 3.0, 4.0, 5.0]},
        "distorted": {"unigrams": [1.0, 2.0, 3.0, 4.0, 5.0], "distortion": 0.75},
        "reserved": {"unigrams": [1.0, 2.0, 3.0, 4.0], "num_reserved_ids": 1},
        "sharded": {"unigrams": [float(k + 1) for k in range(10)], "num_shards": 2, "shard": 1},
        "too_few": {"unigrams": [1.0, 2.0]},
        "none": {},
    }
)
def fixed_sampler(tf, given):
    tf.random.set_seed(7)
    call = tf.random.fixed_unigram_candidate_sampler
    return [
        call([[1], [2]], 1, count, unique, 5, **given)
        for count, unique in ((3, True), (4, True), (9, False))
    ]


@cases(
    given={
        "all": lambda tf: tf.random.all_candidate_sampler([[1], [2]], 1, 6, True),
        "nn_all": lambda tf: tf.nn.all_candidate_sampler([[1], [2]], 1, 3, False, seed=1),
        "hits": lambda tf: tf.nn.compute_accidental_hits([[1, 2], [3, 1]], [1, 5, 3], 2),
        "hits_twice": lambda tf: tf.nn.compute_accidental_hits([[1], [3]], [1, 3, 1], 1),
        "no_hits": lambda tf: tf.nn.compute_accidental_hits([[1], [3]], [5, 6], 1),
        "range": lambda tf: tf.random.uniform_candidate_sampler([[1]], 1, 5, True, 4),
        "int32": lambda tf: tf.random.uniform_candidate_sampler(tf.constant([[1]]), 1, 3, True, 4),
        "columns": lambda tf: tf.random.uniform_candidate_sampler([[1]], 2, 3, True, 4),
        "vector": lambda tf: tf.random.log_uniform_candidate_sampler([1], 1, 3, True, 4),
    }
)
def sampler_arguments(tf, given):
    return attempt(lambda: given(tf))


# ----------------------------------------------------------------------------------- losses


@cases(
    op=["nce_loss", "sampled_softmax_loss"],
    options={
        "default": {},
        "keep": {"remove_accidental_hits": False},
        "remove": {"remove_accidental_hits": True},
        "two": {"num_true": 2},
    },
)
def sampled_losses(tf, op, options):
    tf.random.set_seed(3)
    count = options.get("num_true", 1)
    labels = tf.constant([[1, 2], [4, 0], [3, 5]][:3], tf.int64)[:, :count]

    def call(w, b, x):
        return getattr(tf.nn, op)(w * 1.0, b * 1.0, labels, x, 4, 6, **options)

    w, b = table(tf, shape=(6, 3)), tensor(tf, fill((6,), seed=1))
    return first_only(tf, call, w, b, tensor(tf, fill((3, 3), seed=2)))


@cases(op=["nce_loss", "sampled_softmax_loss"])
def sampled_losses_given(tf, op):
    sample = (
        tf.constant([1, 3], tf.int64),
        tf.constant([[0.5], [0.25]]),
        tf.constant([0.5, 0.75]),
    )

    def call(w, b, x):
        labels = tf.constant([[1], [2]])
        return getattr(tf.nn, op)(w * 1.0, b * 1.0, labels, x, 2, 6, sampled_values=sample)

    w, b = table(tf, shape=(6, 3)), tensor(tf, fill((6,), seed=1))
    return grads(tf, call, w, b, tensor(tf, fill((2, 3), seed=2)))


@case
def sampled_softmax_with_seed(tf):
    tf.random.set_seed(3)
    w, b = table(tf, shape=(6, 3)), tensor(tf, fill((6,), seed=1))
    x = tensor(tf, fill((2, 3), seed=2))
    return tf.nn.sampled_softmax_loss(w, b, tf.constant([[1], [2]]), x, 3, 6, seed=9, name="loss")


@cases(
    combiner=["sum", "mean", "sqrtn"],
    weighted=[False, True],
    function=["embedding_lookup_sparse", "safe_embedding_lookup_sparse"],
)
def slices_of_repeated_ids(tf, combiner, weighted, function):
    table = tf.Variable(tf.reshape(tf.range(12.0), [4, 3]))
    places = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]]
    chosen = tf.SparseTensor(places, tf.constant([3, 1, 3, 1, 3], tf.int64), [3, 2])
    weights = tf.SparseTensor(places, [1.0, 2.0, 3.0, 4.0, 5.0], [3, 2]) if weighted else None
    with tf.GradientTape() as tape:
        y = getattr(tf.nn, function)(table, chosen, weights, combiner=combiner)
    return y, tape.gradient(y, table)
