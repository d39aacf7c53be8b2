"""Checkpoints: keys, what is restored where, what a status says, which files a manager keeps."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from tests.tensorflow.harness import attempt, case, cases


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory() as path:
        yield path


def module(tf, scale=1.0):
    made = tf.Module()
    made.w = tf.Variable([scale, 2.0 * scale])
    made.parts = [tf.Variable(scale), {"a": tf.Variable(2 * scale), "b/c.d": tf.Variable(0.5)}]
    made.pair = (tf.Variable(3.0 * scale), tf.Variable(True))
    made._own = tf.Variable(4.0 * scale)
    made.again = made.w
    made.inner = tf.Module()
    made.inner.v = tf.Variable(5.0 * scale)
    made.number, made.text = 3, "text"
    return made


def values(made):
    parts = made.parts
    return [made.w, parts[0], parts[1]["a"], made.pair[0], made._own, made.inner.v]


@case
def keys(tf):
    with folder() as path:
        checkpoint = tf.train.Checkpoint(model=module(tf), step=tf.Variable(1))
        saved = checkpoint.save(f"{path}/ckpt")
        reader = tf.train.load_checkpoint(path)
        names = sorted(reader.get_variable_to_shape_map())
        dtypes = sorted((k, v.name) for k, v in reader.get_variable_to_dtype_map().items())
        return tf.train.list_variables(saved), names, dtypes, Path(saved).name


@case
def keys_of_a_root(tf):
    with folder() as path:
        checkpoint = tf.train.Checkpoint(module(tf), extra=tf.Variable(1))
        return [key for key, _ in tf.train.list_variables(checkpoint.write(f"{path}/ckpt"))]


@case
def restored(tf):
    with folder() as path:
        saved = tf.train.Checkpoint(model=module(tf)).save(f"{path}/ckpt")
        other = module(tf, 0.0)
        checkpoint = tf.train.Checkpoint(model=other)
        checkpoint.restore(saved).assert_consumed().assert_existing_objects_matched()
        return values(other), checkpoint.save_counter, other.again is other.w


@case
def restored_later(tf):
    with folder() as path:
        saved = tf.train.Checkpoint(model=module(tf)).save(f"{path}/ckpt")
        other = tf.Module()
        status = tf.train.Checkpoint(model=other).restore(saved)
        other.w = tf.Variable([0.0, 0.0])
        other.inner = tf.Module()
        other.inner.v = tf.Variable(0.0)
        other.pair = (tf.Variable(0.0),)
        other.parts = [tf.Variable(0.0)]
        status.assert_existing_objects_matched()
        return other.w, other.inner.v, other.pair[0], other.parts[0]


@case
def saved_again(tf):
    with folder() as path:
        v = tf.Variable(1.0)
        checkpoint = tf.train.Checkpoint(v=v)
        first = checkpoint.save(f"{path}/deep/down/ckpt")
        v.assign(2.0)
        second = checkpoint.save(f"{path}/deep/down/ckpt")
        found = tf.train.latest_checkpoint(f"{path}/deep/down")
        checkpoint.restore(first)
        return v, checkpoint.save_counter, found == second, Path(second).name


def _status(tf, path, checkpoint, method):
    saved = tf.train.Checkpoint(model=module(tf), step=tf.Variable(7)).save(f"{path}/ckpt")
    status = checkpoint(tf).restore(saved)
    getattr(status, method)()
    return "fine"


@cases(
    method=["assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match"],
    checkpoint={
        "same": lambda tf: tf.train.Checkpoint(model=module(tf), step=tf.Variable(0)),
        "less": lambda tf: tf.train.Checkpoint(step=tf.Variable(0)),
        "more": lambda tf: tf.train.Checkpoint(
            model=module(tf), step=tf.Variable(0), x=tf.Variable(0)
        ),
        "other": lambda tf: tf.train.Checkpoint(x=tf.Variable(0)),
        "nothing": lambda tf: tf.train.Checkpoint(),
    },
)
def status(tf, checkpoint, method):
    with folder() as path:
        return attempt(lambda: _status(tf, path, checkpoint, method))


@cases(
    given={
        "number": lambda tf, path: tf.train.Checkpoint(a=1),
        "root": lambda tf, path: tf.train.Checkpoint("text"),
        "exists": lambda tf, path: tf.train.Checkpoint(module(tf), w=tf.Variable(1.0)),
        "shape": lambda tf, path: tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).read(path),
        "dtype": lambda tf, path: tf.train.Checkpoint(v=tf.Variable(1)).read(path),
        "missing": lambda tf, path: tf.train.Checkpoint(v=tf.Variable(1.0)).read(path + "x"),
        "missing_restore": lambda tf, path: tf.train.Checkpoint().restore(path + "x"),
        "no_path": lambda tf, path: tf.train.Checkpoint().restore(None).assert_consumed(),
        "no_path_partial": lambda tf, path: (
            tf.train.Checkpoint().restore(None).expect_partial() is None
        ),
        "no_key": lambda tf, path: tf.train.load_checkpoint(path).get_tensor("v"),
        "key": lambda tf, path: tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE"),
        "has": lambda tf, path: tf.train.load_checkpoint(path).has_tensor("v"),
        "no_folder": lambda tf, path: tf.train.latest_checkpoint(path + "x"),
        "no_state": lambda tf, path: tf.train.get_checkpoint_state(path + "x"),
        "keys_of_dicts": lambda tf, path: tf.train.Checkpoint(d={1: tf.Variable(1.0)}).write(path),
        "keep_none": lambda tf, path: tf.train.CheckpointManager(tf.train.Checkpoint(), path, 0),
        "no_counter": lambda tf, path: tf.train.CheckpointManager(
            tf.train.Checkpoint(), path, 1, checkpoint_interval=3
        ),
    }
)
def wrong(tf, given):
    with folder() as path:
        written = tf.train.Checkpoint(v=tf.Variable(1.0)).write(f"{path}/ckpt")
        found = attempt(lambda: given(tf, written))
        return type(found).__name__ if isinstance(found, Exception) else found


@cases(keep=[1, 2, None])
def manager(tf, keep):
    with folder() as path:
        step = tf.Variable(0)
        made = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), path, keep)
        told = [made.latest_checkpoint, made.restore_or_initialize()]
        for k in range(4):
            step.assign_add(1)
            made.save(checkpoint_number=9 if k == 2 else None)
        again = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), path, keep)
        state = tf.train.get_checkpoint_state(path)
        step.assign(0)
        again.restore_or_initialize()
        paths = [made.checkpoints, again.checkpoints, state.all_model_checkpoint_paths]
        names = [[Path(one).name for one in some] for some in paths]
        numbers = sorted({one.name.partition(".")[0] for one in Path(path).iterdir()})
        return told, names, Path(again.latest_checkpoint).name, step, numbers


@case
def named_tuples_and_random_state(tf):
    import collections

    with folder() as path:
        pair = collections.namedtuple("Pair", "a b")(tf.Variable(1.0), tf.Variable(2.0))
        noise = tf.random.Generator.from_seed(1)
        checkpoint = tf.train.Checkpoint(pair=pair, noise=noise)
        saved = checkpoint.write(f"{path}/ckpt")
        first = noise.normal([2])
        checkpoint.read(saved).assert_consumed()
        return tf.train.list_variables(saved), first, noise.normal([2])
