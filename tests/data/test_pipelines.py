"""Properties of pipelines: gathered batches, caches, structures, functions."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradtape as tf
from gradtape.data import batching, records

Dataset = tf.data.Dataset


def numbers(data) -> list:
    return [np.asarray(x).tolist() for x in data]


STEPS = {
    "shuffle": lambda d: d.shuffle(7, seed=3),
    "take": lambda d: d.take(11),
    "skip": lambda d: d.skip(3),
    "shard": lambda d: d.shard(3, 1),
    "repeat": lambda d: d.repeat(2),
    "cache": lambda d: d.cache(),
    "prefetch": lambda d: d.prefetch(2),
    "batch": lambda d: d.batch(3),
    "unbatch": lambda d: d.batch(4).unbatch(),
    "enumerate": lambda d: d.enumerate().map(lambda k, x: x),
}


@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=5))
def test_gathered_batches_are_those_that_are_stacked(names) -> None:
    """Rows of tensors take a short way through the same steps."""
    rows = np.arange(40).reshape(20, 2)
    short = Dataset.from_tensor_slices(rows)
    long = Dataset.from_generator(lambda: iter(rows), output_signature=short.element_spec)
    for name in names:
        short, long = STEPS[name](short), STEPS[name](long)
        if name == "batch":
            break
    for _ in range(2):
        assert numbers(short) == numbers(long)


def test_batches_of_shuffled_slices_are_not_stacked(monkeypatch) -> None:
    monkeypatch.setattr(batching, "batch", None)
    x, y = np.arange(24.0).reshape(12, 2), np.arange(12)
    plain = Dataset.zip((Dataset.from_tensor_slices(x), Dataset.from_tensor_slices(y)))
    for data in (plain, plain.cache(), plain.prefetch(1), plain.with_options(tf.data.Options())):
        for a, b in data.shuffle(12).repeat(2).take(22).batch(5):
            assert a.numpy().tolist() == x[b.numpy()].tolist()


def test_what_is_cached_is_gathered(monkeypatch) -> None:
    data = Dataset.range(10).map(lambda x: (x, x * 2)).cache()
    assert len(list(data)) == 10
    monkeypatch.setattr(batching, "batch", None)
    assert sorted(int(x) for a, _ in data.shuffle(10).batch(4) for x in a) == list(range(10))


def test_a_cache_that_was_not_finished_begins_again() -> None:
    made = []

    def generator():
        for k in range(4):
            made.append(k)
            yield k

    data = Dataset.from_generator(generator, output_signature=tf.TensorSpec([], tf.int32)).cache()
    assert numbers(data.take(2)) == [0, 1]
    assert numbers(data) == numbers(data) == [0, 1, 2, 3]
    assert made == [0, 1, 0, 1, 2, 3]


def test_a_cache_is_complete_with_its_last_element() -> None:
    made = []
    data = Dataset.range(4).map(
        lambda x: tf.numpy_function(lambda k: made.append(k) or k, [x], tf.int64)
    )
    data = data.cache().batch(2)
    for _ in range(3):
        iterator = iter(data)
        assert [next(iterator).numpy().tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    assert len(made) == 4


def test_a_cache_in_a_file_is_there_when_it_is_complete(tmp_path) -> None:
    data = Dataset.range(4).map(lambda x: (x, tf.strings.as_string(x))).cache(str(tmp_path / "c"))
    iterator = iter(data)
    next(iterator)
    assert [name for name in os.listdir(tmp_path) if name.endswith(".elements")] == []
    del iterator
    assert os.listdir(tmp_path) == []
    assert [int(a) for a, _ in data] == [0, 1, 2, 3]
    assert os.listdir(tmp_path) == ["c.elements"]
    assert [b.numpy() for _, b in data] == [b"0", b"1", b"2", b"3"]


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6, dtype=np.int8).reshape(2, 3),
        np.float32(1.5),
        np.zeros((0, 2)),
        [b"a", b"", b"\xff\n"],
        tf.ragged.constant([[1, 2], [], [3]]),
        tf.sparse.from_dense([[0, 1], [2, 0]]),
        None,
        tf.cast([1.0, 2.5], tf.bfloat16),
    ],
    ids=str,
)
def test_elements_come_back_from_files(tmp_path, value) -> None:
    data = Dataset.from_tensors((value, {"k": 1}))
    data.save(str(tmp_path / "saved"))
    loaded = Dataset.load(str(tmp_path / "saved"))
    assert str(loaded.element_spec) == str(data.element_spec)
    assert str(list(loaded)) == str(list(data))


def test_a_truncated_file_says_so(tmp_path) -> None:
    Dataset.range(3).save(str(tmp_path))
    file = tmp_path / "shard_00000.elements"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(tf.errors.DataLossError, match="truncated"):
        list(Dataset.load(str(tmp_path)))
    file.write_bytes(b"something else")
    with pytest.raises(tf.errors.DataLossError, match="no elements"):
        list(records.read(str(file), []))


def test_saved_shards_are_read_by_a_function(tmp_path) -> None:
    Dataset.range(6).save(str(tmp_path), shard_func=lambda x: x % 2)
    loaded = Dataset.load(str(tmp_path), reader_func=lambda d: d.flat_map(lambda x: x))
    assert numbers(loaded) == [0, 2, 4, 1, 3, 5]
    assert numbers(Dataset.load(str(tmp_path))) == [0, 1, 2, 3, 4, 5]


def test_a_function_is_recorded_once_and_played() -> None:
    ran = []

    def function(x):
        ran.append(1)
        return x * 2

    data = Dataset.range(20).map(function)
    assert len(ran) == 1
    assert numbers(data) == numbers(data) == list(range(0, 40, 2))
    assert len(ran) == 1


def test_a_python_function_does_not_run_before_there_are_elements() -> None:
    seen = []

    def note(x):
        seen.append(int(x))
        return x

    data = Dataset.range(3).map(lambda x: tf.py_function(note, [x], tf.int64)).batch(2)
    assert seen == []
    assert numbers(data) == [[0, 1], [2]]
    assert seen == [0, 1, 2]
    assert data.element_spec.dtype == tf.int64


def test_nothing_in_a_dataset_is_followed() -> None:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = next(iter(Dataset.from_tensors(x * 2).map(lambda v: v * 3)))
        z = tf.reduce_sum(y)
    assert tape.gradient(z, x) is None


def test_elements_of_every_seed_are_a_permutation() -> None:
    for seed in range(20):
        data = Dataset.range(50).shuffle(seed + 1, seed=seed)
        for _ in range(2):
            assert sorted(numbers(data)) == list(range(50))


def test_iterators_do_not_meet() -> None:
    data = Dataset.range(4).map(lambda x: x + 1).prefetch(1)
    pairs = [(int(a), int(b)) for a, b in zip(data, data, strict=True)]
    assert pairs == [(1, 1), (2, 2), (3, 3), (4, 4)]


def test_a_function_draws_from_the_iterator_it_is_given() -> None:
    @tf.function
    def total(iterator):
        return next(iterator) + next(iterator)

    for start in (0, 10):
        iterator = iter(Dataset.range(start, start + 4))
        assert [int(total(iterator)) for _ in range(2)] == [2 * start + 1, 2 * start + 5]
    assert total.experimental_get_tracing_count() == 1
    with pytest.raises(tf.errors.OutOfRangeError):
        total(iterator)


def test_an_optional_leaves_a_function() -> None:
    @tf.function
    def draw(iterator):
        return tf.experimental.Optional.from_value(next(iterator) * 2)

    assert int(draw(iter(Dataset.range(3, 4))).get_value()) == 6


def test_resampling_gives_the_classes_that_are_wanted() -> None:
    data = Dataset.range(4000).map(lambda x: tf.cast(x % 10 == 0, tf.int32))
    data = data.rejection_resample(lambda x: x, [0.5, 0.5], initial_dist=[0.9, 0.1], seed=1)
    labels = [int(label) for label, _ in data]
    assert 0.4 < np.mean(labels) < 0.6


def test_importing_gradtape_does_not_import_datasets() -> None:
    code = "import sys, gradtape; print('gradtape.data' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_texts_that_a_function_made_are_batched() -> None:
    words = {"word": ["a", "b", "c"], "number": [1, 2, 3]}
    found = tf.data.Dataset.from_tensor_slices(words).map(lambda row: row["word"]).cache().batch(3)
    for _ in range(2):
        assert [batch.numpy().tolist() for batch in found] == [[b"a", b"b", b"c"]]


# --- files ----------------------------------------------------------------------------------------
def test_what_decoders_give_is_known_before_a_file_is_read(tmp_path) -> None:
    for k in range(3):
        tf.io.write_file(str(tmp_path / f"{k}.wav"), tf.audio.encode_wav(tf.ones([k + 1, 1]), 8))
        tf.io.write_file(str(tmp_path / f"{k}.txt"), ",".join("0" * (k + 1)))
    sounds = Dataset.from_tensor_slices([str(tmp_path / f"{k}.wav") for k in range(3)])
    waves = sounds.map(lambda path: tf.audio.decode_wav(tf.io.read_file(path)).audio)
    assert waves.element_spec == tf.TensorSpec([None, None], tf.float32)
    (padded,) = waves.padded_batch(3)
    assert tf.reduce_sum(padded, [1, 2]).numpy().tolist() == pytest.approx([1, 2, 3], rel=1e-3)
    texts = Dataset.from_tensor_slices([str(tmp_path / f"{k}.txt") for k in range(3)])
    words = texts.map(lambda path: tf.strings.split(tf.io.read_file(path), ","))
    assert words.element_spec == tf.TensorSpec([None], tf.string)
    assert [len(one) for one in words] == [1, 2, 3]


def test_a_function_may_write_into_its_element() -> None:
    def halved(row):
        row["x"] = row["x"] / 2.0
        return row

    found = tf.data.Dataset.from_tensor_slices({"x": [2.0, 4.0]}).map(halved)
    assert [row["x"].numpy() for row in found] == [1.0, 2.0]
