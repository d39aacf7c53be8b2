"""Tables from keys to values, and numbers rounded to few levels."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.tensorflow.harness import attempt, case, cases


def kind(given):
    return type(given).__name__ if isinstance(given, Exception) else given


def words(tf, dtype="int32"):
    values = tf.constant([1, 2, 3], dtype)
    return tf.lookup.KeyValueTensorInitializer(["one", "two", "three"], values)


def static(tf, **more):
    return tf.lookup.StaticHashTable(words(tf), -1, **more)


def waiting(tf):
    """A table whose initializer does nothing, and what fills it."""

    class Nothing(tf.lookup.KeyValueTensorInitializer):
        def initialize(self, table):
            pass

    given = [["one", "two", "three"], tf.constant([1, 2, 3])]
    return tf.lookup.StaticHashTable(Nothing(*given), -1), words(tf)


def filled(tf, table, initializer):
    initializer.initialize(table)
    initializer.initialize(table)
    return table.lookup(tf.constant(["two", "ten"]))


def numbered(tf, keys, values, default):
    keys = tf.constant(keys, tf.int64)
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), default)


@cases(
    given={
        "lookup": lambda tf: static(tf).lookup(tf.constant([["two", "ten"], ["one", ""]])),
        "one": lambda tf: static(tf).lookup(tf.constant("two")),
        "item": lambda tf: static(tf)[tf.constant(["two"])],
        "size": lambda tf: static(tf).size(),
        "dtypes": lambda tf: (static(tf).key_dtype, static(tf).value_dtype),
        "default": lambda tf: static(tf).default_value,
        "numbers": lambda tf: static(tf).lookup(tf.constant([1, 2])),
        "sparse": lambda tf: static(tf).lookup(tf.sparse.from_dense([["two", ""], ["", "ten"]])),
        "ragged": lambda tf: static(tf).lookup(tf.ragged.constant([["two"], [], ["ten", "one"]])),
        "to_text": lambda tf: numbered(tf, [1, 2], ["a", "b"], "?").lookup(
            tf.constant([2, 3], tf.int64)
        ),
        "to_float": lambda tf: numbered(tf, [1, 2], [0.5, 1.5], 0.0).lookup(
            tf.constant([[2], [3]], tf.int64)
        ),
        "twice": lambda tf: numbered(tf, [1, 1], ["a", "b"], "?"),
        "twice_same": lambda tf: numbered(tf, [1, 1], ["a", "a"], "?").size(),
        "wrong_default": lambda tf: tf.lookup.StaticHashTable(words(tf), "text"),
        "waiting": lambda tf: waiting(tf)[0].lookup(tf.constant(["one"])),
        "waiting_size": lambda tf: waiting(tf)[0].size(),
        "waiting_export": lambda tf: waiting(tf)[0].export(),
        "waited": lambda tf: filled(tf, *waiting(tf)),
        "uneven": lambda tf: numbered(tf, [1, 2], ["a"], "?"),
        "in_a_function": lambda tf: [
            call(tf.constant([a, "ten"])) for call in [tf.function(static(tf).lookup)]
            for a in ("one", "two")
        ],
    }
)  # fmt: skip
def static_tables(tf, given):
    return kind(attempt(lambda: given(tf)))


@cases(
    given={
        "words": lambda tf: tf.lookup.StaticVocabularyTable(words(tf, "int64"), 5).lookup(
            tf.constant(["one", "ten", "twelve", "thirteen", "three", ""])
        ),
        "size": lambda tf: tf.lookup.StaticVocabularyTable(words(tf, "int64"), 5).size(),
        "numbers": lambda tf: tf.lookup.StaticVocabularyTable(
            tf.lookup.KeyValueTensorInitializer(
                tf.constant([10, 20], tf.int64), tf.constant([0, 1], tf.int64)
            ), 3,
        ).lookup(tf.constant([10, 5, -6, 70, 20], tf.int64)),
        "nothing": lambda tf: tf.lookup.StaticVocabularyTable(
            None, 3, lookup_key_dtype=tf.string
        ).lookup(tf.constant(["a", "b", "c"])),
        "values": lambda tf: tf.lookup.StaticVocabularyTable(words(tf), 3),
        "no_buckets": lambda tf: tf.lookup.StaticVocabularyTable(words(tf, "int64"), 0),
    }
)  # fmt: skip
def vocabularies(tf, given):
    return kind(attempt(lambda: given(tf)))


def _file(tf, path, key_dtype, key_index, value_dtype, value_index, default, **more):
    given = tf.lookup.TextFileInitializer(
        path, key_dtype, key_index, value_dtype, value_index, delimiter=" ", **more
    )
    return tf.lookup.StaticHashTable(given, default)


@cases(
    given={
        "lines": lambda tf, path: _file(tf, path, tf.string, -2, tf.int64, -1, -1).lookup(
            tf.constant(["lake 20", "lake"])
        ),
        "columns": lambda tf, path: _file(tf, path, tf.string, 0, tf.int64, 1, -1).lookup(
            tf.constant(["lake", "sea"])
        ),
        "numbers": lambda tf, path: _file(tf, path, tf.int64, -1, tf.string, 0, "?").lookup(
            tf.constant([2, 3], tf.int64)
        ),
        "offset": lambda tf, path: _file(
            tf, path, tf.string, 0, tf.int64, -1, -1, value_index_offset=5
        ).lookup(tf.constant(["emerson", "lake"])),
        "part": lambda tf, path: _file(
            tf, path, tf.string, 0, tf.int64, -1, -1, vocab_size=2
        ).size(),
        "too_few": lambda tf, path: _file(tf, path, tf.string, 0, tf.int64, -1, -1, vocab_size=9),
        "no_column": lambda tf, path: _file(tf, path, tf.string, 0, tf.int64, 3, -1),
        "no_number": lambda tf, path: _file(tf, path, tf.string, 1, tf.int64, 0, -1),
        "no_file": lambda tf, path: _file(tf, path + "x", tf.string, -2, tf.int64, -1, -1),
        "no_name": lambda tf, path: _file(tf, "", tf.string, -2, tf.int64, -1, -1),
        "text_line_number": lambda tf, path: _file(tf, path, tf.string, -2, tf.string, -1, ""),
        "same": lambda tf, path: _file(tf, path, tf.string, 0, tf.string, 0, ""),
        "below": lambda tf, path: _file(tf, path, tf.string, -3, tf.string, 0, ""),
    }
)
def files(tf, given):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "words")
        path.write_text("emerson 10\nlake 20\npalmer 30\n")
        return kind(attempt(lambda: given(tf, str(path))))


def _table(tf):
    made = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    made.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
    return made


def _dense(tf):
    made = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, 0.5, -1, -2)
    made.insert(tf.constant([1, 2], tf.int64), tf.constant([10.0, 20.0]))
    return made


def _changed(tf):
    made = _table(tf)
    made.insert(tf.constant(["b", "c"]), tf.constant([20, 30], tf.int64))
    made.remove(tf.constant(["a", "z"]))
    return made.lookup(tf.constant(["a", "b", "c"])), made.size()


def _saved(tf):
    with tempfile.TemporaryDirectory() as folder:
        table = _table(tf)
        checkpoint = tf.train.Checkpoint(table=table)
        path = checkpoint.save(f"{folder}/ckpt")
        table.insert(tf.constant(["a", "c"]), tf.constant([9, 9], tf.int64))
        checkpoint.restore(path).assert_consumed()
        return table.lookup(tf.constant(["a", "b", "c"])), tf.train.list_variables(path)


def _in_a_function(tf):
    table = _table(tf)

    @tf.function
    def call(keys, values):
        table.insert(keys, values)
        return table.size(), table.lookup(tf.constant(["a", "new", "b"]))

    keys = [tf.constant(["new"]), tf.constant(["a"]), tf.constant(["other"])]
    return [call(k, tf.constant([7 + n], tf.int64)) for n, k in enumerate(keys)]


@cases(
    given={
        "changed": _changed,
        "saved": _saved,
        "in_a_function": _in_a_function,
        "defaults": lambda tf: _table(tf).lookup(
            tf.constant(["a", "z"]), dynamic_default_values=tf.constant([8, 9], tf.int64)
        ),
        "export": lambda tf: [sorted(one.numpy().tolist()) for one in _table(tf).export()],
        "dtype": lambda tf: _table(tf).insert(tf.constant(["a"]), tf.constant([1])),
        "shape": lambda tf: _table(tf).insert(tf.constant(["a"]), tf.constant([1, 2], tf.int64)),
        "keys": lambda tf: _table(tf).lookup(tf.constant([1])),
        "dense": lambda tf: (_dense(tf).lookup(tf.constant([2, 3], tf.int64)), _dense(tf).size()),
        "dense_empty": lambda tf: _dense(tf).lookup(tf.constant([-1], tf.int64)),
        "dense_insert": lambda tf: _dense(tf).insert(
            tf.constant([-2], tf.int64), tf.constant([1.0])
        ),
        "dense_same": lambda tf: tf.lookup.experimental.DenseHashTable(
            tf.int64, tf.float32, 0.5, -1, -1
        ),
    }
)
def mutable_tables(tf, given):
    return kind(attempt(lambda: given(tf)))


# ------------------------------------------------------------------------------ fake_quant

NUMBERS = [-7.0, -5.5, -1.3, 0.0, 0.02, 1.26, 2.7, 5.99, 6.0, 8.0]
RANGES = {"usual": (-6.0, 6.0), "low": (-0.1, 0.1), "above": (1.0, 3.0), "below": (-3.0, -1.0)}


@cases(span=RANGES, bits=[2, 8, 16], narrow=[False, True])
def fake_quant(tf, span, bits, narrow):
    x, low, high = tf.constant(NUMBERS), tf.Variable(span[0]), tf.Variable(span[1])
    q = tf.quantization
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        args = q.fake_quant_with_min_max_args(x, *span, num_bits=bits, narrow_range=narrow)
        ends = q.fake_quant_with_min_max_vars(x, low, high, bits, narrow)
        loss = tf.reduce_sum(ends * tf.constant([1.0, 2.0] * 5))
    return args, ends, tape.gradient(args, x), tape.gradient(loss, [x, low, high])


@case
def fake_quant_per_channel(tf):
    x = tf.constant([[-7.0, 1.0], [0.3, 0.4], [3.0, 9.0]])
    low, high = tf.Variable([-1.0, 0.5]), tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.quantization.fake_quant_with_min_max_vars_per_channel(x, low, high)
    wrong = attempt(
        lambda: tf.quantization.fake_quant_with_min_max_vars_per_channel(x, [0.0], [1.0])
    )
    return y, tape.gradient(y, [x, low, high]), kind(wrong)


@cases(
    given={
        "order": lambda tf: tf.quantization.fake_quant_with_min_max_args([1.0], 6.0, -6.0),
        "bits": lambda tf: tf.quantization.fake_quant_with_min_max_args([1.0], num_bits=17),
        "nothing": lambda tf: tf.quantization.fake_quant_with_min_max_vars([1.0, -1.0], 0.0, 0.0),
        "backwards": lambda tf: tf.quantization.fake_quant_with_min_max_vars([1.0], 3.0, 1.0),
        "vector": lambda tf: tf.quantization.fake_quant_with_min_max_vars([1.0], [0.0], [1.0]),
        "double": lambda tf: tf.quantization.fake_quant_with_min_max_args(
            tf.constant([1.0], tf.float64)
        ),
        "args_gradient": lambda tf: tf.quantization.fake_quant_with_min_max_args_gradient(
            tf.ones([10]), NUMBERS
        ),
        "vars_gradient": lambda tf: list(
            tf.quantization.fake_quant_with_min_max_vars_gradient(tf.ones([10]), NUMBERS, -1.0, 2.0)
        ),
        "build": lambda tf: dict(tf.sysconfig.get_build_info()),
    }
)
def fake_quant_edges(tf, given):
    return kind(attempt(lambda: given(tf)))
