"""Which traces TensorFlow would have made of a function's calls, and how it prints them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .differences import Key
from .kinds import Found, Kind, read
from .kinship import common, covers, text
from .signature import Bound, Signature


class Traces:
    """TensorFlow's table of a function's traces, by which it counts.

    gradtape records anew for every shape; what TensorFlow would have traced is found by what its
    table holds: a trace serves all calls that it covers, and with `reduce_retracing` a new one is
    made wide enough for the others of its kind.
    """

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._made: list[Key] = []

    def __len__(self) -> int:
        return len(self._made)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._made)

    def of(self, bound: Bound) -> Key:
        """The trace that serves these arguments, made now if there is none."""
        asked = bound.trace
        if asked in self._made:
            return asked
        serving = None
        for made in self._made:
            if _covers(made, asked) and (serving is None or _covers(serving, made)):
                serving = made
        return serving or self._make(asked)

    def forget(self, trace: Key) -> None:
        """It could not be made."""
        self._made.remove(trace)

    def _make(self, asked: Key) -> Key:
        if self._signature.reduce_retracing:
            for made in self._made:
                asked = _common(asked, made) or asked
        self._made.append(asked)
        return asked


def _covers(general: Key, key: Key) -> bool:
    return general[0] == key[0] and all(map(covers, general[1], key[1]))


def _common(first: Key, second: Key) -> Key | None:
    if first[0] != second[0]:
        return None
    kinds = tuple(map(common, first[1], second[1]))
    return None if None in kinds else (first[0], kinds)  # type: ignore[return-value]


def printed(
    signature: Signature,
    trace: Key,
    outputs: Any,
    captures: Iterable[Any] = (),
    verbose: bool = True,
) -> str:
    """One of the `pretty_printed_concrete_signatures`.

    `outputs` is the structure of tensors that the function returns; `captures` are the tensors
    and variables that it uses and that are no arguments.
    """
    kinds = dict(zip(*trace, strict=True))
    result = text(read(outputs, Found()))
    listed = list(rows(signature, trace[0]))
    if not verbose:
        return f"({_listed(listed, kinds)}) -> {result}"
    lines = [f"  {name} ({how}): {text(kinds[name])}" for name, how in listed]
    held = [f"  {id(one)}: {_captured(one)}" for one in captures] or ["  None"]
    return "\n".join(
        ["Input Parameters:", *lines, "Output Type:", f"  {result}", "Captures:", *held]
    )


def _captured(one: Any) -> str:
    kind = read(one, Found())
    # TensorFlow captures the handle of a variable.
    handle = "TensorSpec(shape=(), dtype=tf.resource, name=None)"
    return handle if kind[0] == "variable" else text(kind)


def rows(signature: Signature, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The parameters of a trace with their sort, in TensorFlow's order."""
    by_position = len(signature.positional)
    only = signature.rest is not None
    for at, name in enumerate(signature.positional):
        alone = only or at < signature.only_by_position
        yield name, "POSITIONAL_ONLY" if alone else "POSITIONAL_OR_KEYWORD"
    left = [name for name in names[by_position:] if name not in signature.keyword_only]
    rest = [name for name in left if signature.rest and name.startswith(f"{signature.rest}_")]
    counted = [name for at, name in enumerate(rest) if name == f"{signature.rest}_{at}"]
    for name in counted:
        yield name, "POSITIONAL_ONLY"
    for name in (*signature.keyword_only, *(name for name in left if name not in counted)):
        yield name, "KEYWORD_ONLY"


def _listed(listed: list[tuple[str, str]], kinds: dict[str, Kind]) -> str:
    shown: list[str] = []
    for at, (name, how) in enumerate(listed):
        before = listed[at - 1][1] if at else None
        if before == "POSITIONAL_ONLY" != how:
            shown.append("/")
        if how == "KEYWORD_ONLY" != before:
            shown.append("*")
        shown.append(f"{name}: {text(kinds[name])}")
    if listed and listed[-1][1] == "POSITIONAL_ONLY":
        shown.append("/")
    return ", ".join(shown)
