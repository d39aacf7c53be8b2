"""Event files: every record that TensorFlow writes for a summary, read field by field."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from gradtape.io.protos import array_of, fields
from gradtape.io.records import records
from tests.tensorflow.harness import attempt, case, cases


def events(folder):
    """Step, tag, tensor, plugin and description of every summary in a folder's files."""
    found = []
    for path in sorted(Path(folder).iterdir()):
        with path.open("rb") as file:
            for number, record in enumerate(records(file)):
                event = dict(fields(record))
                if not number:
                    found.append(event[3].decode())
                    continue
                for _, value in fields(event[5]):
                    found.append((event.get(2, 0), *_summary(dict(fields(value)))))
    return found


def _summary(value):
    array = array_of(value[8])
    if array.dtype == object:
        array = [bytes(one) for one in array.ravel()]
        array = [one[:8] if one.startswith(b"\x89PNG") else one for one in array]
    metadata = dict(fields(value.get(9, b"")))
    plugin = dict(fields(metadata.get(1, b"")))
    return value[1], array, plugin.get(1), plugin.get(2), metadata.get(3)


def written(tf, write):
    with tempfile.TemporaryDirectory() as folder:
        writer = tf.summary.create_file_writer(folder)
        with writer.as_default():
            said = attempt(lambda: write(tf))
        writer.close()
        return said, events(folder)


def _in_a_function(tf):
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def train(x):
        step.assign_add(1)
        with tf.summary.record_if(step % 2 == 0):
            tf.summary.scalar("even", x, step=step)
        tf.summary.histogram("all", x * [1.0, 2.0, 4.0], step=step, buckets=2)
        return x * 2.0

    return [train(tf.constant(float(k))) for k in range(4)]


def _scopes(tf):
    with tf.name_scope("outer"), tf.name_scope("inner"):
        tf.summary.scalar("loss", 1.0, step=1)
        with tf.summary.experimental.summary_scope("some", values=[]) as (tag, scope):
            tf.summary.write(tag, [1, 2], step=1)
            return tag, scope


def _steps(tf):
    tf.summary.experimental.set_step(tf.Variable(5, dtype=tf.int64))
    tf.summary.scalar("five", 1.0)
    tf.summary.experimental.set_step(6)
    tf.summary.scalar("six", 1.0)
    tf.summary.scalar("seven", 1.0, step=7)
    said = tf.summary.experimental.get_step()
    tf.summary.experimental.set_step(None)
    return said


def _conditions(tf):
    said = []
    for condition in (True, False, lambda: False, tf.constant(True)):
        with tf.summary.record_if(condition):
            said += [tf.summary.should_record_summaries(), tf.summary.scalar("x", 1.0, step=1)]
    return said


@cases(
    write={
        "scalar": lambda tf: tf.summary.scalar("loss", 0.5, step=1),
        "scalar_described": lambda tf: tf.summary.scalar(
            "loss", tf.constant(2), step=3, description="*what* it is"
        ),
        "scalar_variable": lambda tf: tf.summary.scalar("v", tf.Variable(1.5), step=0),
        "scalar_bool": lambda tf: tf.summary.scalar("v", True, step=0),
        "scalar_vector": lambda tf: tf.summary.scalar("v", [1.0, 2.0], step=1),
        "scalar_text": lambda tf: tf.summary.scalar("v", "text", step=1),
        "no_step": lambda tf: tf.summary.scalar("v", 1.0),
        "no_name": lambda tf: tf.summary.scalar(3, 1.0, step=1),
        "histogram": lambda tf: tf.summary.histogram("h", [1.0, 2.0, 3.0, 3.0, 7.5], step=1),
        "histogram_few": lambda tf: tf.summary.histogram("h", [[1, 2], [3, 9]], 1, buckets=3),
        "histogram_same": lambda tf: tf.summary.histogram("h", [2.0, 2.0], step=1, buckets=3),
        "histogram_empty": lambda tf: tf.summary.histogram("h", [], step=1, buckets=2),
        "histogram_none": lambda tf: tf.summary.histogram("h", [1.0], step=1, buckets=0),
        "histogram_text": lambda tf: tf.summary.histogram("h", "text", step=1),
        "text": lambda tf: tf.summary.text("t", "some *text*", step=1, description="d"),
        "texts": lambda tf: tf.summary.text("t", [["a", "b"], ["c", "é"]], step=1),
        "text_number": lambda tf: tf.summary.text("t", 1.0, step=1),
        "image": lambda tf: tf.summary.image("i", np.zeros((2, 3, 4, 1)), step=1),
        "image_one": lambda tf: tf.summary.image(
            "i", tf.zeros((5, 3, 4, 3), tf.uint8), step=1, max_outputs=1
        ),
        "image_flat": lambda tf: tf.summary.image("i", np.zeros((2, 3)), step=1),
        "image_less": lambda tf: tf.summary.image(
            "i", np.zeros((2, 3, 4, 1)), step=1, max_outputs=-1
        ),
        "audio": lambda tf: tf.summary.audio(
            "a", np.array([[[0.0, 0.5], [-1.0, 1.0], [0.3, -2.0]]], np.float32), 8000, step=1
        ),
        "audio_flat": lambda tf: tf.summary.audio("a", [0.0, 1.0], 8000, step=1),
        "write": lambda tf: tf.summary.write("raw", tf.constant([[1, 2]]), step=1),
        "in_a_function": _in_a_function,
        "scopes": _scopes,
        "steps": _steps,
        "conditions": _conditions,
    }
)
def summary(tf, write):
    return written(tf, write)


@case
def without_a_writer(tf):
    said = [tf.summary.scalar("x", 1.0, step=1), tf.summary.should_record_summaries()]
    with tf.summary.create_noop_writer().as_default():
        said += [tf.summary.scalar("x", 1.0, step=1)]
    tf.summary.flush()
    return said


@case
def writers(tf):
    with tempfile.TemporaryDirectory() as folder:
        writer = tf.summary.create_file_writer(folder, filename_suffix=".mine")
        with writer.as_default(step=4):
            tf.summary.scalar("x", 1.0)
            inside = tf.summary.experimental.get_step()
        outside = tf.summary.experimental.get_step()
        writer.close()
        closed = attempt(lambda: writer.as_default().__enter__())
        (path,) = Path(folder).iterdir()
        return inside, outside, type(closed).__name__, path.suffix, events(folder)


@case
def records_of_files(tf):
    with tempfile.TemporaryDirectory() as folder:
        with tf.io.TFRecordWriter(f"{folder}/records") as writer:
            for one in (b"", b"abc", b"x" * 20_000, bytes(range(256)) * 300):
                writer.write(one)
        return Path(folder, "records").read_bytes()[:300], len(Path(folder, "records").read_bytes())
