"""Which argument made a call need a recording of its own, in words."""

from __future__ import annotations

from .. import dtypes
from .kinds import NAN, Kind
from .kinship import text

Key = tuple[tuple[str, ...], tuple[Kind, ...]]  # the arguments' names and kinds, keywords last


def why(old: Key, new: Key) -> str:
    """Which argument tells two keys apart, in words."""
    before, after = (dict(zip(*key, strict=True)) for key in (old, new))
    differences = [
        difference
        for name in {**after, **before}
        if (difference := _difference(name, before.get(name), after.get(name)))
    ]
    return "; ".join(differences) or "the arguments are the same"


def _difference(place: str, old: Kind | None, new: Kind | None) -> str | None:
    if old == new:
        return None
    if old is None or new is None:
        return f"argument `{place}`: {'is not given any more' if new is None else 'is given'}"
    tag = new[0]
    if tag == old[0] and tag in ("tensor", "variable"):
        return f"argument `{place}`: {_of_arrays(old, new)}"
    if tag == old[0] and len(new) == 3 and old[1] == new[1] and len(old[2]) == len(new[2]):
        steps = _steps(new, place)
        inner = zip(steps, old[2], new[2], strict=True)
        return "; ".join(filter(None, (_difference(*each) for each in inner)))
    if tag == old[0] == "object" and type(new[1]()) is type(old[1]()):
        return f"argument `{place}`: another {type(new[1]()).__name__}"
    return f"argument `{place}`: {_named(new)} instead of {_named(old)}"


def _steps(kind: Kind, place: str) -> list[str]:
    if kind[0] == "dict":
        return [f"{place}[{key!r}]" for key in kind[1]]
    if kind[0] in ("named", "attrs"):
        return [f"{place}.{field}" for field in kind[1][1]]
    return [f"{place}[{at}]" for at in range(len(kind[2]))]


def _of_arrays(old: Kind, new: Kind) -> str:
    said = []
    if new[1] != old[1]:
        said.append(f"shape {new[1]} instead of {old[1]}")
    if new[2] != old[2]:
        said.append(f"dtype {dtypes.of(new[2]).name} instead of {dtypes.of(old[2]).name}")
    if new[0] == "variable" and new[3] != old[3]:
        said.append("trainable" if new[3] else "not trainable")
    return ", ".join(said) or ("another variable" if new[0] == "variable" else "another name")


def _named(kind: Kind) -> str:
    tag, told = kind[0], kind[1]
    if tag in ("tensor", "variable"):
        return f"a {tag} of shape {told} and dtype {dtypes.of(kind[2]).name}"
    if tag == "value":
        return "nan" if told is NAN else repr(told)
    if tag == "object":
        return f"an object of class {type(told()).__name__}"
    if tag == "dict":
        return f"a dict with the keys {list(told)}"
    if tag in ("list", "tuple"):
        return f"a {tag} of {len(kind[2])}"
    return text(kind)
