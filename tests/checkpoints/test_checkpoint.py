"""`tf.train.Checkpoint`: what is not a matter of comparing with TensorFlow's recorded answers."""

from __future__ import annotations

import json
import os
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.framework.tracking import AutoTrackable, no_automatic_dependency_tracking
from gradtape.train import files


class Dense(tf.Module):
    """Makes its variables when it is called, as layers do."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.built = False

    def __call__(self, x: Any) -> Any:
        if not self.built:
            self.w = tf.Variable(tf.ones([x.shape[-1], self.size]))
            self.b = tf.Variable(tf.zeros([self.size]))
            self.built = True
        return x @ self.w + self.b


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    return str(tmp_path / "ckpt")


def test_values_wait_for_variables_that_are_made_later(prefix: str) -> None:
    saved = Dense(2)
    saved(tf.ones([1, 3]))
    saved.w.assign(tf.fill([3, 2], 5.0))
    path = tf.train.Checkpoint(layer=saved).save(prefix)
    layer = Dense(2)
    status = tf.train.Checkpoint(layer=layer).restore(path)
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\).layer.w"):
        status.assert_consumed()
    assert layer(tf.ones([1, 3])).numpy().tolist() == [[15.0, 15.0]]
    status.assert_consumed()


def test_values_wait_for_variables_of_a_function(prefix: str) -> None:
    saved = Dense(1)
    saved(tf.ones([1, 2]))
    saved.w.assign([[5.0], [6.0]])
    path = tf.train.Checkpoint(saved).save(prefix)
    layer = Dense(1)
    status = tf.train.Checkpoint(layer).restore(path)
    call = tf.function(lambda x: layer(x))
    assert [call(tf.ones([1, 2])).numpy().item() for _ in range(2)] == [11.0, 11.0]
    layer.w.assign([[1.0], [1.0]])
    assert call(tf.ones([1, 2])).numpy().item() == 2.0
    status.assert_consumed()


def test_lists_are_looked_into_again_when_the_status_is_asked(prefix: str) -> None:
    path = tf.train.Checkpoint(all=[tf.Variable(1.0), {"a": tf.Variable(2.0)}]).write(prefix)
    mine: list[Any] = []
    status = tf.train.Checkpoint(all=mine).read(path)
    mine += [tf.Variable(0.0), {"a": tf.Variable(0.0)}]
    status.assert_consumed()
    assert mine[0].numpy() == 1.0
    assert mine[1]["a"].numpy() == 2.0


def test_a_file_that_is_deleted_is_still_read(prefix: str) -> None:
    path = tf.train.Checkpoint(layer=tf.Module(), v=tf.Variable(1)).write(prefix)
    made = tf.Module()
    made.w = tf.Variable([1.0, 2.0])
    tf.train.Checkpoint(layer=made).write(path)
    later = tf.Module()
    tf.train.Checkpoint(layer=later).read(path)
    files.remove(path)
    later.w = tf.Variable([0.0, 0.0])
    assert later.w.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "uint64", "float16",
                                   "bfloat16", "float64", "complex64", "complex128"])  # fmt: skip
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_every_dtype_and_shape(prefix: str, dtype: str, shape: tuple) -> None:
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape) + 1
    given = tf.Variable(tf.cast(values, dtype))
    back = tf.Variable(tf.zeros(shape, dtype))
    tf.train.Checkpoint(v=back).read(tf.train.Checkpoint(v=given).write(prefix)).assert_consumed()
    np.testing.assert_array_equal(back.numpy(), given.numpy())
    back.assign(back)  # it is a value as any other


def test_strings(prefix: str) -> None:
    given, back = tf.Variable([["é", ""], [b"\xff", "x\0"]]), tf.Variable([["", ""], ["", ""]])
    scalars = tf.Variable("one"), tf.Variable("")
    path = tf.train.Checkpoint(v=given, s=scalars[0]).write(prefix)
    tf.train.Checkpoint(v=back, s=scalars[1]).read(path).assert_consumed()
    assert back.numpy().tolist() == given.numpy().tolist()
    assert scalars[1].numpy() == b"one"


def test_cycles_and_what_is_shared(prefix: str) -> None:
    def made(value: float) -> Any:
        parent, child = tf.Module(), tf.Module()
        parent.child, child.parent = child, parent
        parent.w = child.w = tf.Variable(value)
        return parent

    one, other = made(3.0), made(0.0)
    path = tf.train.Checkpoint(one).write(prefix)
    assert len(tf.train.list_variables(path)) == 2
    tf.train.Checkpoint(other).read(path).assert_consumed()
    assert other.child.w.numpy() == 3.0


def test_objects_that_say_what_they_hold(prefix: str) -> None:
    class Layer(AutoTrackable):
        @no_automatic_dependency_tracking
        def hide(self) -> None:
            self.hidden = tf.Variable(9.0)

    layer = Layer()
    layer.w, layer.gone, layer.number = tf.Variable(1.0), tf.Variable(2.0), 3
    layer.hide()
    layer.gone = None
    path = tf.train.Checkpoint(layer=layer).write(prefix)
    keys = [key for key, _ in tf.train.list_variables(path)]
    assert keys == ["_CHECKPOINTABLE_OBJECT_GRAPH", "layer/w/.ATTRIBUTES/VARIABLE_VALUE"]
    later = Layer()
    tf.train.Checkpoint(layer=later).read(path)
    later.w = tf.Variable(0.0)
    assert later.w.numpy() == 1.0


def test_state_of_pythons_and_random_numbers(prefix: str) -> None:
    class Count(tf.train.experimental.PythonState):
        number = 0

        def serialize(self) -> str:
            return str(self.number)

        def deserialize(self, string_value: bytes) -> None:
            self.number = int(string_value)

    count, noise = Count(), tf.random.Generator.from_seed(1)
    count.number = 5
    checkpoint = tf.train.Checkpoint(count=count, noise=noise)
    path = checkpoint.write(prefix)
    first = noise.normal([3]).numpy()
    count.number = 0
    checkpoint.read(path).assert_consumed()
    assert count.number == 5
    np.testing.assert_array_equal(noise.normal([3]).numpy(), first)


def test_callbacks_are_called_when_it_is_written(prefix: str) -> None:
    seen: list[Any] = []
    options = tf.train.CheckpointOptions(
        experimental_write_callbacks=[seen.append, lambda: seen.append("done")]
    )
    tf.train.Checkpoint(v=tf.Variable(1)).write(prefix, options)
    assert seen == [prefix, "done"]


# --- files ----------------------------------------------------------------------------------------
def test_the_index_is_for_people(prefix: str) -> None:
    path = tf.train.Checkpoint(v=tf.Variable([1.0])).write(prefix)
    with open(path + ".index", encoding="utf-8") as file:
        told = json.load(file)
    assert told["tensors"] == {"v/.ATTRIBUTES/VARIABLE_VALUE": ["float32", [1]]}
    assert told["objects"][0]["children"] == {"v": 1}


def test_a_write_that_fails_leaves_the_old_one(prefix: str, monkeypatch: Any) -> None:
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.write(prefix)
    v.assign(2.0)

    def full(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        checkpoint.write(prefix)
    checkpoint.read(path)
    assert v.numpy() == 1.0


def test_files_that_are_no_checkpoints(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    v = tf.Variable(1.0)
    for name in "ab":
        tf.train.Checkpoint(v=v).write(tmp_path / name)
    (tmp_path / "a.safetensors").write_bytes(b"nothing of the kind" * 100)
    save_file({"w": np.ones(2, np.float32)}, tmp_path / "b.safetensors")
    for name in "ab":
        with pytest.raises(tf.errors.OpError, match=r"no checkpoint|not a checkpoint"):
            tf.train.Checkpoint(v=v).read(tmp_path / name)
        (tmp_path / f"{name}.index").unlink()
        with pytest.raises(tf.errors.NotFoundError, match=r"safetensors is there, .*index is not"):
            tf.train.load_checkpoint(tmp_path / name)
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"):
        tf.train.load_checkpoint(tmp_path)


def test_the_state_file(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    path.write_text('model_checkpoint_path: "/else/a\\"b"\nall_model_checkpoint_paths: "c"\n\n')
    state = tf.train.get_checkpoint_state(tmp_path)
    assert state is not None
    assert state.model_checkpoint_path == '/else/a"b'
    assert state.all_model_checkpoint_paths == [str(tmp_path / "c")]
    assert tf.train.latest_checkpoint(tmp_path) is None  # it is not there
    path.write_text("garbage")
    assert tf.train.get_checkpoint_state(tmp_path) is None


def test_a_manager_goes_on(tmp_path: Path) -> None:
    step = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(step=step)
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    for _ in range(3):
        step.assign_add(1)
        manager.save()
    again = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    assert again.checkpoints == manager.checkpoints == [f"{tmp_path}/ckpt-2", f"{tmp_path}/ckpt-3"]
    step.assign(0)
    assert again.restore_or_initialize() == f"{tmp_path}/ckpt-3"
    assert int(step) == 3
    assert again.save() == f"{tmp_path}/ckpt-4"
    assert sorted(os.listdir(tmp_path)) == [
        "checkpoint", "ckpt-3.index", "ckpt-3.safetensors", "ckpt-4.index", "ckpt-4.safetensors",
    ]  # fmt: skip


def test_some_are_kept_for_ever(tmp_path: Path, monkeypatch: Any) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    checkpoint = tf.train.Checkpoint(step=tf.Variable(0))
    manager = tf.train.CheckpointManager(
        checkpoint, tmp_path, max_to_keep=1, keep_checkpoint_every_n_hours=2, checkpoint_name="c"
    )
    for _ in range(6):
        now += 3600
        manager.save()
    kept = sorted(name for name in os.listdir(tmp_path) if name.endswith(".safetensors"))
    assert kept == ["c-2.safetensors", "c-4.safetensors", "c-6.safetensors"]
    assert manager.checkpoints == [f"{tmp_path}/c-6"]


def test_intervals_and_first_values(tmp_path: Path) -> None:
    step, told = tf.Variable(0), []
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(step=step), tmp_path, None, step_counter=step, checkpoint_interval=2,
        init_fn=lambda: told.append(1),
    )  # fmt: skip
    assert manager.restore_or_initialize() is None
    assert told == [1]
    saved = []
    for _ in range(5):
        step.assign_add(1)
        saved.append(manager.save() is not None)
    assert saved == [True, False, True, False, True]
    assert manager.save() is None


def test_threads_that_save_while_another_trains(tmp_path: Path) -> None:
    v = tf.Variable(tf.zeros([100_000]))
    ended = threading.Event()

    def train() -> None:
        while not ended.is_set():
            v.assign_add(tf.ones([100_000]))

    thread = threading.Thread(target=train)
    thread.start()
    try:
        for k in range(5):
            path = tf.train.Checkpoint(v=v).write(tmp_path / str(k))
            found = tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE")
            assert (found == found[0]).all()  # all of one moment
    finally:
        ended.set()
        thread.join()


def test_inside_a_function_it_says_what_to_do(prefix: str) -> None:
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with pytest.raises(tf.errors.UnimplementedError, match=r"outside of tf\.function"):
        tf.function(lambda x: checkpoint.write(prefix))(tf.constant(1.0))


def test_a_list_that_is_filled_before_the_next_attribute_is_set(tmp_path: Path) -> None:
    class Rule(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.made: list[Any] = []
            self.slots: list[Any] = []

        def build(self) -> None:
            made = [tf.Variable(0.0), tf.Variable(0.0)]
            self.made.extend(made)
            self.slots = made

    saved = Rule()
    saved.build()
    saved.slots[1].assign(3.0)
    path = tf.train.Checkpoint(rule=saved).save(tmp_path / "c")
    rule = Rule()
    tf.train.Checkpoint(rule=rule).restore(path)
    rule.build()
    assert [float(v) for v in rule.slots] == [0.0, 3.0]


def test_a_defaultdict_is_not_looked_into(tmp_path: Path) -> None:
    module = tf.Module()
    module.by_number = defaultdict(list, {0: [tf.Variable(1.0)]})
    path = tf.train.Checkpoint(module=module).write(tmp_path / "c")
    assert [name for name, _ in tf.train.list_variables(path)] == ["_CHECKPOINTABLE_OBJECT_GRAPH"]


@pytest.mark.parametrize("seed", [3, None])
def test_an_iterator_goes_on_where_it_was(seed: int | None, tmp_path: Path) -> None:
    tf.random.set_seed(None)  # as it was when TensorFlow was asked, whatever ran before

    def made() -> Any:
        return iter(tf.data.Dataset.range(20).shuffle(20, seed=seed).batch(3).repeat().prefetch(2))

    iterator = made()
    for _ in range(10):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "ckpt"))
    after = [next(iterator).numpy().tolist() for _ in range(5)]
    if seed is not None:  # recorded from TensorFlow
        assert after[:4] == [[16, 11, 15], [12, 3, 18], [4, 19, 0], [2, 1]]
    for other in (iterator, made()):
        tf.train.Checkpoint(iterator=other).restore(path).assert_consumed()
        assert [next(other).numpy().tolist() for _ in range(5)] == after
    plain = iter(tf.data.Dataset.range(20))
    with pytest.raises(tf.errors.InvalidArgumentError, match="one of another dataset"):
        tf.train.Checkpoint(iterator=plain).restore(path)
    assert int(next(plain)) == 0
