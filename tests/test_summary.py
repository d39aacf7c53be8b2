"""`tf.summary` and records: what recorded answers do not show."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from gradtape.io.png import png
from gradtape.io.protos import array_of, fields, message, tensor_proto
from gradtape.io.records import crc32c, framed, records


def read(folder: Path) -> list[dict]:
    """The events of the one file in a folder."""
    (path,) = folder.iterdir()
    with path.open("rb") as file:
        return [dict(fields(one)) for one in records(file)]


@pytest.mark.parametrize("length", [0, 1, 255, 16_384, 16_500, 100_003])
def test_long_sums_are_those_of_single_bytes(length: int) -> None:
    data = np.random.default_rng(0).bytes(length)
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    wanted = 0xFFFFFFFF
    for byte in data:
        wanted = table[(wanted ^ byte) & 255] ^ wanted >> 8
    assert crc32c(data) == wanted ^ 0xFFFFFFFF


@pytest.mark.parametrize("damage", ["length", "data", "cut", "cut head"])
def test_damaged_records_are_told(damage: str) -> None:
    data = bytearray(framed(b"first") + framed(b"second"))
    if damage == "length":
        data[0] ^= 1
    elif damage == "data":
        data[13] ^= 1
    else:
        del data[-3 if damage == "cut" else 25 :]
    with pytest.raises(tf.errors.DataLossError):
        list(records(io.BytesIO(data)))


@pytest.mark.parametrize(
    "value",
    [np.float32(2.5), np.arange(6).reshape(2, 3), np.array([1 + 2j]), np.zeros((0, 3), np.int8),
     np.array([["a", "bc"]], object), np.array([True, False])],
    ids=str,
)  # fmt: skip
def test_tensors_as_protocol_buffers(value: object) -> None:
    back = array_of(tensor_proto(value))
    wanted = np.asarray(value)
    assert back.shape == wanted.shape
    found = [one.decode() for one in back.ravel()] if wanted.dtype == object else back.ravel()
    assert list(found) == list(wanted.ravel())


def test_tensors_with_their_numbers_one_by_one() -> None:
    shape = message((2, message((1, 3))))
    packed = message((1, 1), (2, shape), (5, np.array([1.5, 2.5], "<f4").tobytes()))
    assert array_of(packed).tolist() == [1.5, 2.5, 2.5]  # the last one is repeated
    negative = message((1, 3), (2, shape), (7, -1))
    assert array_of(negative).tolist() == [-1, -1, -1]
    half = message((1, 19), (2, shape), (13, int(np.float16(1.5).view(np.uint16))))
    assert array_of(half).tolist() == [1.5, 1.5, 1.5]


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_images_are_png(channels: int, dtype: str) -> None:
    Image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, channels)).astype(dtype)
    image = Image.open(io.BytesIO(png(pixels)))
    assert image.size == (7, 5)
    if dtype == "uint8":
        assert np.asarray(image).reshape(5, 7, channels).tolist() == pixels.tolist()


def test_a_file_is_there_before_it_is_closed(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path, max_queue=2)
    with writer.as_default():
        for step in range(3):
            tf.summary.scalar("x", 1.0, step=step)
        assert len(read(tmp_path)) == 4  # three are more than the two that may wait
        tf.summary.scalar("x", 1.0, step=3)
        tf.summary.flush()
        assert len(read(tmp_path)) == 5


def test_threads_write_whole_events(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path)

    def write(name: str) -> None:
        with writer.as_default():
            for step in range(50):
                tf.summary.scalar(name, float(step), step=step)

    threads = [threading.Thread(target=write, args=(str(k),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert len(read(tmp_path)) == 201
    assert not tf.summary.should_record_summaries()


def test_a_function_writes_to_where_it_was_recorded(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path / "a")

    @tf.function
    def step(x: tf.Tensor, at: tf.Tensor) -> tf.Tensor:
        tf.summary.scalar("x", x * 2.0, step=at)
        return x

    with writer.as_default():
        for k in range(3):
            step(tf.constant(float(k)), tf.constant(k, tf.int64))
    writer.close()
    found = read(tmp_path / "a")[1:]
    values = [array_of(dict(fields(dict(fields(one[5]))[1]))[8]).item() for one in found]
    assert values == [0.0, 2.0, 4.0]
    assert [one.get(2, 0) for one in found] == [0, 1, 2]


def test_metadata_for_a_plugin(tmp_path: Path) -> None:
    metadata = tf.compat.v1.SummaryMetadata()
    metadata.plugin_data.plugin_name = "graph_keras_model"
    metadata.plugin_data.content = b"1"
    with tf.summary.create_file_writer(os.fspath(tmp_path)).as_default():
        tf.summary.write("keras", "{}", step=0, metadata=metadata)
    value = dict(fields(dict(fields(read(tmp_path)[1][5]))[1]))
    assert dict(fields(dict(fields(value[9]))[1])) == {1: b"graph_keras_model", 2: b"1"}
