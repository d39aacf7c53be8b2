"""Values of a checkpoint find objects by the names of attributes, also those that come later."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any

from .. import errors
from ..framework import convert
from ..framework.tracking import LOOKING, children, is_followed
from .files import Node

# What TensorFlow's C++ calls some types.
_KERNEL_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def walk(root: Any) -> Iterator[tuple[Any, tuple[str, ...], dict[str, Any]]]:
    """All objects below a root, the nearest first: each once, with its path and what it holds."""
    seen = {id(root)}
    waiting: deque[tuple[Any, tuple[str, ...]]] = deque([(root, ())])
    while waiting:
        one, path = waiting.popleft()
        held = children(one)
        yield one, path, held
        for name, child in held.items():
            if id(child) not in seen:
                seen.add(id(child))
                waiting.append((child, (*path, name)))


def saved_tensors(value: Any) -> dict[str, Any]:
    """What an object saves of itself."""
    save = getattr(value, "_serialize_to_tensors", None)
    try:
        return {} if save is None else save()
    except NotImplementedError:
        return {}


def collect(root: Any) -> tuple[list[Node], dict[str, Any]]:
    """The objects below a root as nodes, and their arrays by keys."""
    found = list(walk(root))
    numbers = {id(one): number for number, (one, _, _) in enumerate(found)}
    nodes, arrays = [], {}
    for one, path, held in found:
        start = "/".join([*map(_escaped, path), ".ATTRIBUTES"])
        values = {}
        for name, value in saved_tensors(one).items():
            key = values[name] = f"{start}/{_escaped(name)}"
            arrays[key] = convert.to_tensor(value)._value
        nodes.append(Node({name: numbers[id(child)] for name, child in held.items()}, values))
    return nodes, arrays


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")


def _table(value: Any) -> dict[str, Any] | None:
    """What waits for attributes of an object; lists and dictionaries have nothing of the kind."""
    waiting = getattr(value, "_deferred_dependencies", None)
    return waiting if isinstance(waiting, dict) else None


class Restoration:
    """One checkpoint on its way into objects."""

    def __init__(self, reader: Any, path: str) -> None:
        self.path = path
        self.nodes: list[Node] = reader.nodes()
        self.found: dict[int, Any] = {}  # objects by the numbers of their nodes
        self._reader = reader
        self._open: list[tuple[Any, str, int, Any]] = []  # in containers, which cannot tell

    def bind(self, value: Any, number: int, owner: Any = None) -> None:
        """Give an object the values of a node, and what it holds those of the nodes below. The
        `owner` is the object whose attribute it is, perhaps in a list or a dictionary."""
        waiting = deque([(value, number, owner)])
        restored: list[tuple[Any, dict[str, Any]]] = []
        while waiting:
            one, number, owner = waiting.popleft()
            owner = one if _table(one) is not None else owner
            if number in self.found:
                known = self.found[number]
                if known is not one and getattr(known, "_root", None) is not one:
                    logging.getLogger("gradtape").warning(
                        "Inconsistent references when loading the checkpoint into this object "
                        "graph. For example, in the saved checkpoint object, `model.layer.weight` "
                        "and `model.layer_copy.weight` reference the same variable, while in the "
                        "current object these are two different variables. The referenced "
                        "variables are:(%s and %s).", known, one,
                    )  # fmt: skip
                continue
            self.found[number] = one
            if tensors := self._read(one, self.nodes[number]):
                restored.append((one, tensors))
            held = children(one)
            for name, child in self.nodes[number].children.items():
                if name in held:
                    waiting.append((held[name], child, owner))
                else:
                    self._wait(one, name, child, owner)
        for one, tensors in restored:  # after all are read: of a damaged file, nothing is taken
            one._restore_from_tensors(tensors)

    def settle(self) -> None:
        """Look again into lists and dictionaries, which may have got what was missing."""
        still, self._open = self._open, []
        for one, name, number, owner in still:
            held = children(one)
            if name in held:
                self.bind(held[name], number, owner)
            else:
                self._open.append((one, name, number, owner))
        if not self._open:
            LOOKING.discard(self)

    def _wait(self, one: Any, name: str, number: int, owner: Any) -> None:
        waiting = _table(one)
        if waiting is not None:
            waiting[name] = partial(self._arrive, number)
            return
        self._open.append((one, name, number, owner))
        LOOKING.put(self, None)
        table = _table(owner)
        if table is not None:  # by which this lives as long as the owner: no attribute has the name
            table[f"restoration {id(self)}"] = self.bind

    def _arrive(self, number: int, value: Any) -> None:
        self.bind(value, number)
        self.settle()

    def _read(self, one: Any, node: Node) -> dict[str, Any]:
        """The values of a node that an object asks for."""
        if not node.values:
            return {}
        present = saved_tensors(one)
        tensors = {}
        for name, key in node.values.items():
            if name not in present:
                continue
            kind, wanted = self._reader.tensors[key][0], convert.to_tensor(present[name]).dtype.name
            if kind != wanted:
                expected, original = (_KERNEL_NAMES.get(n, n) for n in (wanted, kind))
                raise errors.invalid(
                    f"tensor_name = {key}; expected dtype {expected} does not equal original "
                    f"dtype {original} [Op:RestoreV2]"
                )
            tensors[name] = convert.to_tensor(self._reader.get(key))
        return tensors

    def name(self, number: int) -> str:
        """The path to a node, for messages."""
        names, waiting = {0: "(root)"}, deque([0])
        while waiting and number not in names:
            at = waiting.popleft()
            for name, child in self.nodes[at].children.items():
                if child not in names:
                    names[child] = f"{names[at]}.{name}"
                    waiting.append(child)
        return names.get(number, "an object")


# --- what came of it ------------------------------------------------------------------------------
class CheckpointLoadStatus:
    """What `restore` gives: whether everything found its place."""

    def __init__(self, restoration: Restoration, root: Any) -> None:
        self._restoration, self._root = restoration, root

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raise an AssertionError unless all values have objects, and all objects values."""
        self.assert_existing_objects_matched()
        restoration = self._restoration
        for number, node in enumerate(restoration.nodes):
            if node.values and number not in restoration.found:
                keys = ", ".join(node.values.values())
                raise AssertionError(
                    f"Unresolved object in checkpoint {restoration.name(number)}: {keys}"
                )
            unused = set(node.values) - set(saved_tensors(restoration.found.get(number)))
            if node.values and unused:
                raise AssertionError(
                    "Unused attributes in these objects (the attributes exist in the checkpoint "
                    f"but were not restored):\n{restoration.name(number)}: {sorted(unused)}"
                )
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raise an AssertionError if there is a variable that the checkpoint has no value for."""
        self._restoration.settle()
        matched = {id(one) for one in self._restoration.found.values()}
        unmatched = [one for one in self._objects() if id(one) not in matched]
        if unmatched:
            shown = unmatched[:10]
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed "
                f"values, likely due to changes in the Python program. Showing {len(shown)} of "
                f"{len(unmatched)} unmatched objects: {shown}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raise an AssertionError if only the root was found."""
        self._restoration.settle()
        if len(self._restoration.found) <= 1 and (without := self._objects()):
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means "
                "that the checkpoint does not match the Python program. The following objects have "
                f"no matching checkpointed value: {without}"
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Accepted: what is not used is not told of anyway."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Accepted: values are restored at once."""
        self._restoration.settle()

    def initialize_or_restore(self, session: Any = None) -> None:
        """Accepted: values are restored at once."""
        self._restoration.settle()

    def _objects(self) -> list[Any]:
        return [one for one, _, _ in walk(self._root) if saved_tensors(one)]


class InitializationOnlyStatus:
    """What `restore(None)` gives: nothing was restored."""

    _MESSAGE = "No checkpoint specified (save_path=None); nothing is being restored."

    def assert_consumed(self) -> Any:
        """Nothing was, so an AssertionError is raised."""
        raise AssertionError(self._MESSAGE)

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> InitializationOnlyStatus:
        """Nothing to be told."""
        return self

    def run_restore_ops(self, session: Any = None) -> Any:
        """Nothing can be, so an AssertionError is raised."""
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None to "
            "Saver.restore)."
        )

    def initialize_or_restore(self, session: Any = None) -> None:
        """Variables have their values from the start."""


def check_followed(name: str, value: Any) -> None:
    """Raise an error unless checkpoints can look into a value."""
    if not is_followed(value):
        raise ValueError(
            f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from "
            f"`Trackable`), got {value}. If you believe this object should be trackable (i.e. it "
            "is part of the TensorFlow Python API and manages state), please open an issue."
        )
