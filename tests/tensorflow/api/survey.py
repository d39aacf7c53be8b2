"""TensorFlow's public names looked up on gradtape: there, differing, or not there and why."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, reduce
from types import ModuleType
from typing import Any

import gradtape as tf
from gradtape.api.absent import reason
from tests.tensorflow.api.record import STORED
from tests.tensorflow.api.signatures import kind, members, signature

THERE, DIFFERS, ABSENT = "there", "differs", "not there"
MARK = "Differs from TensorFlow:"
# Signatures that are not TensorFlow's, with the reason.
OTHERWISE = {
    "RaggedTensor": "made by from_row_splits and its siblings, never by its own name",
    "TensorArraySpec.is_compatible_with": "the parameter has the name that all specs give it",
    "types.experimental.TensorLike": "a union of types for annotations, never called",
}
INSIDE = ("gradtape.core", "gradtape.ops")


@dataclass(frozen=True)
class Entry:
    """One thing that TensorFlow makes public, or one member of a class of it."""

    name: str
    status: str
    note: str = ""
    aliases: tuple[str, ...] = ()
    signature: tuple[str, str] = ("", "")  # TensorFlow's and gradtape's

    @property
    def space(self) -> str:
        """The namespace that it is counted in."""
        return self.name.rpartition(".")[0]

    @property
    def agrees(self) -> bool:
        """Whether it takes TensorFlow's arguments."""
        theirs, ours = self.signature
        if not theirs or self.name in OTHERWISE:
            return True
        # A default of TensorFlow's that nobody can write down may be any.
        pattern = re.escape(theirs).replace(r"=\.\.\.", r"=[^,]*")
        return re.fullmatch(pattern, ours or "()") is not None


@dataclass(frozen=True)
class Survey:
    """What was found, and the release of TensorFlow that was asked for it."""

    tensorflow: str
    names: list[Entry] = field(default_factory=list)
    members: dict[str, list[Entry]] = field(default_factory=dict)


@cache
def survey() -> Survey:
    """Look up every recorded name."""
    stored = json.loads(STORED.read_text())
    names = [_entry(name, told) for name, told in stored["names"].items()]
    there = {entry.name for entry in names if entry.status != ABSENT}
    classes = {
        name: list(_of_class(name, found, resolve(name)))
        for name, found in stored["members"].items()
        if name in there
    }
    return Survey(stored["tensorflow"], names, {name: one for name, one in classes.items() if one})


def resolve(name: str) -> Any:
    """What stands under a name of gradtape's."""
    return reduce(getattr, name.split("."), tf)


def offered(name: str) -> bool:
    """Whether gradtape has the name."""
    try:
        value = resolve(name)
    except AttributeError:
        return False
    # Modules that a namespace imports for its own use are not offered.
    return name.partition(".")[0] in dir(tf) and not (
        isinstance(value, ModuleType) and value.__name__.startswith(INSIDE)
    )


def difference(doc: str | None) -> str:
    """The sentence of a docstring that says how the thing differs from TensorFlow's."""
    _, found, text = (doc or "").partition(MARK)
    return re.sub(r"\s+", " ", text.partition("\n\n")[0]).strip() if found else ""


def _entry(name: str, told: dict[str, Any]) -> Entry:
    aliases = tuple(told.get("aliases", ()))
    if not offered(name):
        return Entry(name, ABSENT, _why(name), aliases)
    value = resolve(name)
    note = difference(value.__doc__) if kind(value) != "constant" else ""
    lost = [alias for alias in aliases if not offered(alias)]
    if lost and not note:
        note = f"not under {', '.join(f'`{alias}`' for alias in lost)}"
    pair = told["signature"], signature(value) if told["kind"] != "module" else ""
    return Entry(name, DIFFERS if note else THERE, note, aliases, pair)


def _of_class(name: str, found: dict[str, str], cls: Any) -> Iterator[Entry]:
    ours = members(cls) if isinstance(cls, type) else {}
    declared = {one for base in getattr(cls, "__mro__", ()) for one in _annotated(base)}
    for member, theirs in found.items():
        full = f"{name}.{member}"
        if member not in ours and member not in declared:
            yield Entry(full, ABSENT, _why(full))
            continue
        note = difference(getattr(getattr(cls, member, None), "__doc__", ""))
        pair = (theirs, ours.get(member, ""))
        yield Entry(full, DIFFERS if note else THERE, note, signature=pair)


def _annotated(cls: type) -> dict[str, Any]:
    """What every object of a class has, though the class has it not."""
    return vars(cls).get("__annotations__", {})


def _why(name: str) -> str:
    found = reason(name)
    return str(found) if found else ""


def by_name() -> Iterator[tuple[str, str]]:
    """Every difference that a docstring declares: where, and the sentence."""
    found = survey()
    for entry in (*found.names, *(one for group in found.members.values() for one in group)):
        if entry.status == DIFFERS:
            yield entry.name, entry.note


def throughout() -> Iterator[str]:
    """The differences of families of ops, of recorded answers and of random programs."""
    from tests.tensorflow.differs import DIFFERS as answers
    from tests.tensorflow.fuzz.known import DIFFERS as known

    for home in sorted(_FAMILIES):
        if text := difference(importlib.import_module(f"gradtape.{home}").__doc__):
            yield f"{home.rpartition('.')[2]}: {text}"
    for text in dict.fromkeys(answers.values()):
        cases = sorted({_case(case) for case, reason in answers.items() if reason == text})
        yield f"{text} (recorded: {', '.join(cases)})"
    yield from (one.sentence for one in known)


# Modules that make up a namespace and are not one, so that nobody else reads what they say.
_FAMILIES = [
    found.name
    for room in ("arrays", "math", "linalg", "nn", "strings", "control")
    for found in pkgutil.iter_modules(
        importlib.import_module(f"gradtape.{room}").__path__, f"{room}."
    )
    if not offered(found.name)
]


def _case(case: str) -> str:
    """The words of a recorded case's name: `neural::conv2d_twice[options=dilated]`."""
    return re.sub(r"^b\d+_", "", case.partition("[")[0].partition("::")[2]).replace("_", " ")
