"""A stranger who knows a TensorFlow name knows its room, and sees nothing that is not TensorFlow's.

A room is a top-level entry of the package: `tf.nn.max_pool` is made in `gradtape/nn/`.
"""

from __future__ import annotations

import copy
import importlib
import importlib.util
import pickle
import pickletools
import random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.api import alias
from tests import stubs
from tests.tensorflow.api.survey import ABSENT, Entry, resolve, survey

NAMES = [entry for entry in survey().names if entry.status != ABSENT]
# Modules that say they are another, as the types of TensorFlow do when they are printed.
SHOWN = {"tensorflow.python.framework.errors_impl": "gradtape.errors"}
# A space whose room has another name.
OTHERWISE = {"experimental.numpy": "numpy"}
# Names whose like is in another room, beside which they stand.
BESIDE = {
    "linalg.global_norm": "math",  # clipping by it
    "experimental.RowPartition": "ragged",
    "math.approx_max_k": "arrays",  # sorting
    "math.approx_min_k": "arrays",
    "math.top_k": "arrays",
    "nn.depth_to_space": "arrays",  # space_to_batch
    "nn.space_to_depth": "arrays",
    "nn.embedding_lookup": "arrays",  # gather
    "random.log_uniform_candidate_sampler": "nn",  # the other samplers
    "random.uniform_candidate_sampler": "nn",
    "dtypes.experimental": "experimental",  # the same names
    "experimental.async_scope": "api",  # executing_eagerly and what else there is of graphs
    "types.experimental.Callable": "compile",  # tf.function
    "types.experimental.ConcreteFunction": "compile",
    "types.experimental.GenericFunction": "compile",
}


def rooms(entry: Entry) -> set[str]:
    """The rooms in which one would look for a name, or for another name of the same thing."""
    found = set()
    for name in (entry.name, *entry.aliases):
        first, _, rest = name.partition(".")
        space = next((s for s in OTHERWISE if f"{name}.".startswith(f"{s}.")), first)
        found |= {OTHERWISE.get(space, space)} if rest else set()
    return found


def home(name: str) -> str:
    """The module in which a thing is made."""
    space, _, last = name.rpartition(".")
    module, found = resolve(space) if space else tf, resolve(name)
    if isinstance(found, ModuleType):
        return found.__name__
    for place, names in getattr(module, "_HOMES", {}).items():
        if last in names.split():
            relative = place if place.startswith(".") else f".{place}"
            return importlib.util.resolve_name(relative, module.__name__)
    made = getattr(found, "__module__", None) or module.__name__
    return SHOWN.get(made, made)


# A top-level name is in the room that the table says; `tf.__internal__` hands on others' names.
DOTTED = [e for e in NAMES if "." in e.name and not e.name.startswith("__")]
CHOSEN = random.Random(10).sample(DOTTED, 40)


@pytest.mark.parametrize("entry", CHOSEN, ids=lambda entry: entry.name)
def test_a_name_chosen_at_random_is_made_in_its_room(entry: Entry) -> None:
    assert _room(entry) in rooms(entry) | {BESIDE.get(entry.name)}


def test_every_name_is_made_in_its_room_but_those_that_are_told() -> None:
    elsewhere = {e.name: _room(e) for e in DOTTED if _room(e) not in rooms(e)}
    assert elsewhere == BESIDE


def _room(entry: Entry) -> str:
    package, *inner = home(entry.name).split(".")
    # NumPy's own types are those of tf.experimental.numpy; `types.UnionType` is Python's.
    return inner[0] if package == "gradtape" else package


def test_what_the_table_of_top_level_names_says_is_so() -> None:
    for place, names in tf._HOMES.items():
        for name in names.split():
            module = importlib.import_module(f"gradtape.{place}" if place else f"gradtape.{name}")
            assert getattr(tf, name) is (getattr(module, name) if place else module)


def test_only_tensorflows_names_are_shown() -> None:
    known = {name for entry in survey().names for name in (entry.name, *entry.aliases)}
    shown = [name for name in dir(tf) if not (name.startswith("__") and name.endswith("__"))]
    assert [name for name in shown if name not in known] == []


@pytest.mark.parametrize("room", ["sweep", "core", "core.op", "framework", "autodiff.sweep", "api"])
def test_rooms_of_our_own_are_no_modules_of_tensorflow(room: str) -> None:
    finder = alias.Finder()
    with pytest.raises(ModuleNotFoundError, match=f"No module named 'tensorflow.{room}'"):
        finder.find_spec(f"tensorflow.{room}")
    assert finder.find_spec("tensorflow.nn") is not None


def test_what_editors_read_is_current() -> None:
    old = {file: text for file, text in stubs.stubs().items() if file.read_text() != text}
    assert not old, "python -m tests.stubs writes them anew"


# --- pickles --------------------------------------------------------------------------------------
THINGS = {
    "Tensor": lambda: tf.constant([1.0, 2.0]),
    "text": lambda: tf.constant(["a", "b"]),
    "Variable": lambda: tf.Variable([1.0, 2.0], name="v"),
    "IndexedSlices": lambda: tf.IndexedSlices(tf.ones([1]), tf.constant([0]), tf.constant([3])),
    "TensorShape": lambda: tf.TensorShape([1, None]),
    "TensorSpec": lambda: tf.TensorSpec([2, None], tf.float32, "x"),
    "RaggedTensor": lambda: tf.ragged.constant([[[1.0], []], [[2.0, 3.0]]]),
    "SparseTensor": lambda: tf.SparseTensor([[0, 1]], [2.0], [3, 3]),
    "name_scope": lambda: tf.name_scope("layer"),
}


@pytest.mark.parametrize("name", THINGS)
def test_a_pickle_names_no_module_that_may_move(name: str) -> None:
    thing = THINGS[name]()
    data = pickle.dumps(thing, protocol=2)  # whose names are in one piece
    modules = {
        argument.split()[0] for op, argument, _ in pickletools.genops(data) if op.name == "GLOBAL"
    }
    public = {"gradtape", "gradtape.dtypes", "copyreg", "__builtin__", "builtins", "_codecs"}
    assert {m for m in modules if m.partition(".")[0] != "numpy"} <= public
    for twin in (pickle.loads(data), pickle.loads(pickle.dumps(thing)), copy.copy(thing)):
        assert type(twin) is type(thing)
        assert _parts(twin) == _parts(thing)


def _parts(thing: Any) -> Any:
    if isinstance(thing, tf.name_scope):
        return thing.name
    if isinstance(thing, tf.Tensor | tf.Variable):
        return thing.dtype, np.asarray(thing).tolist()
    if isinstance(thing, tf.TensorShape | tf.TensorSpec):
        return repr(thing)
    return [_parts(part) for part in tf.nest.flatten(thing, expand_composites=True)]


def test_a_copy_of_several_tensors_stays_on_the_tape() -> None:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        ragged = copy.copy(tf.RaggedTensor.from_row_splits(v * 3.0, [0, 1, 2]))
        sparse = copy.copy(tf.SparseTensor([[0], [1]], v * 5.0, [4]))
        loss = tf.reduce_sum(ragged.values) + tf.reduce_sum(sparse.values)
    np.testing.assert_array_equal(tape.gradient(loss, v), [8.0, 8.0])


@pytest.mark.parametrize("name", ["math.sin", "add", "bitwise.invert", "nn.max_pool", "linalg.det"])
def test_functions_are_found_by_pickle(name: str) -> None:
    assert pickle.loads(pickle.dumps(resolve(name))) is resolve(name)
