"""tf.data: the very order of shuffles, and random numbers of datasets."""

from __future__ import annotations

from ..harness import case, cases


def epochs(data, count=3):
    return [[int(x) for x in data] for _ in range(count)]


@cases(
    seed=[None, 0, 7, -3, 2**40],
    own=[None, 0, 5, 2**33 + 1],
    again=[True, False, None],
)
def shuffled(tf, seed, own, again):
    if seed is None and own is None:
        return None
    if seed is not None:
        tf.random.set_seed(seed)
    data = tf.data.Dataset.range(12).shuffle(5, own, reshuffle_each_iteration=again)
    return epochs(data)


@cases(rows=[1, 2, 10, 100], buffer=[1, 2, 3, 10, 64, 1000])
def by_size(tf, rows, buffer):
    return epochs(tf.data.Dataset.range(rows).shuffle(buffer, seed=11), 2)


PIPELINES = {
    "repeat": lambda d: d.shuffle(4, seed=1).repeat(3),
    "repeat_before": lambda d: d.repeat(3).shuffle(7, seed=1),
    "fixed_repeat": lambda d: d.shuffle(4, seed=1, reshuffle_each_iteration=False).repeat(2),
    "twice": lambda d: d.shuffle(4, seed=1).shuffle(6, seed=2),
    "map": lambda d: d.map(lambda x: x * 2).shuffle(4, seed=1),
    "filter": lambda d: d.filter(lambda x: x % 3 > 0).shuffle(4, seed=1),
    "take": lambda d: d.shuffle(10, seed=1).take(4),
    "skip": lambda d: d.shuffle(10, seed=1).skip(4),
    "shard": lambda d: d.shuffle(10, seed=1).shard(3, 1),
    "take_repeat": lambda d: d.shuffle(10, seed=1).take(3).repeat(3),
    "concatenate": lambda d: d.shuffle(5, seed=1).concatenate(d.shuffle(5, seed=2)),
    "cache": lambda d: d.shuffle(10, seed=1).cache(),
    "cache_before": lambda d: d.map(lambda x: x * 2).cache().shuffle(10, seed=1),
    "prefetch": lambda d: d.shuffle(10, seed=1).prefetch(2),
    "unknown": lambda d: d.shuffle(-2, seed=3),
    "batch": lambda d: d.batch(3).shuffle(2, seed=1).unbatch(),
    "flat_map": lambda d: d.flat_map(lambda x: type(x) and d.shuffle(3, seed=4).take(2)),
    "batch_repeat": lambda d: d.shuffle(10, seed=1).batch(3).repeat(2).unbatch(),
    "map_repeat": lambda d: d.shuffle(10, seed=1).map(lambda x: x + 1).repeat(2),
    "shuffle_batch_prefetch": lambda d: d.shuffle(4, seed=1).batch(3).prefetch(2).unbatch(),
    "repeat_for_ever": lambda d: d.shuffle(4, seed=1).batch(3).repeat().take(9).unbatch(),
    "filter_repeat": lambda d: d.shuffle(10, seed=1).filter(lambda x: x > 2).repeat(2),
    "cache_repeat": lambda d: d.shuffle(10, seed=1).cache().repeat(2),
    "zip": lambda d: d.__class__.zip((d.shuffle(4, seed=1), d)).map(lambda a, b: a * 100 + b),
    "enumerate": lambda d: d.shuffle(4, seed=1).enumerate().map(lambda k, x: k * 100 + x),
}


@cases(pipeline=PIPELINES)
def in_pipelines(tf, pipeline):
    return epochs(pipeline(tf.data.Dataset.range(10)))


@case
def without_seeds_of_their_own(tf):
    tf.random.set_seed(4)
    first = tf.data.Dataset.range(10).shuffle(10)
    between = tf.random.uniform([2])
    second = tf.data.Dataset.range(10).shuffle(10)
    return epochs(first), between, epochs(second), epochs(first, 1)


@case
def batches_of_pairs(tf):
    tf.random.set_seed(9)
    x = tf.reshape(tf.range(60.0), [20, 3])
    data = tf.data.Dataset.from_tensor_slices((x, tf.range(20))).shuffle(8).batch(6).repeat(2)
    return list(data)


@cases(seed=[0, 3, 2**35], again=[None, True, False])
def random_numbers(tf, seed, again):
    data = tf.data.Dataset.random(seed=seed, rerandomize_each_iteration=again).take(5)
    return epochs(data), epochs(data.repeat(2), 1)


@cases(weights=[None, [0.5, 0.5], [0.9, 0.1], [0.0, 1.0], [0.2, 0.3, 0.5]], stop=[True, False])
def sampled(tf, weights, stop):
    count = 2 if weights is None else len(weights)
    datasets = [tf.data.Dataset.range(k * 100, k * 100 + 6) for k in range(count)]
    data = tf.data.Dataset.sample_from_datasets(
        datasets, weights, seed=5, stop_on_empty_dataset=stop
    )
    return epochs(data, 2), int(data.cardinality()), str(data.element_spec)


@case
def sampled_by_a_dataset(tf):
    datasets = [tf.data.Dataset.range(6), tf.data.Dataset.range(100, 106)]
    weights = tf.data.Dataset.from_tensors([0.3, 0.7]).repeat()
    data = tf.data.Dataset.sample_from_datasets(datasets, weights, seed=5)
    return epochs(data, 2)


@case
def drawn_in_a_function(tf):
    tf.random.set_seed(3)
    data = tf.data.Dataset.range(4)
    return [
        [list(d), list(d)]
        for d in (
            data.map(lambda x: tf.random.uniform([])),
            data.map(lambda x: tf.random.uniform([], seed=2)),
            data.map(lambda x: tf.random.uniform([])).repeat(2),
            data.map(lambda x: tf.random.normal([2])).batch(2),
            data.filter(lambda x: tf.random.uniform([]) < 0.5),
        )
    ]


@case
def files_in_a_random_order(tf):
    import os
    import tempfile

    folder = tempfile.mkdtemp()
    for k in range(6):
        open(os.path.join(folder, f"{k}.txt"), "w").close()
    data = tf.data.Dataset.list_files(os.path.join(folder, "*.txt"), seed=3)
    return [[os.path.basename(f.numpy()) for f in data] for _ in range(2)]
