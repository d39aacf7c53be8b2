"""How the arguments of a call of a `tf.function` become a key and a list of tensors.

>>> import gradtape as tf
>>> signature = Signature(lambda x, n=2: x * n)
>>> bound = signature.bind((tf.constant([1.0, 2.0]),), {"n": 3})
>>> bound.leaves
[<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>]

'argument `x`: shape () instead of (2,)'
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import nest
from ..framework import convert
from ..framework.shapes import TensorSpec, TypeSpec
from ..framework.variable import Variable
from .differences import Key, why
from .kinds import Found, Kind, read, rebuild
from .kinship import fit, open_kind, structure, text

Names = tuple[str, ...]
__all__ = ["Bound", "Key", "Signature", "why"]
_EMPTY, _PARAMETER = inspect.Parameter.empty, inspect.Parameter


class _Shown:
    """Stands where an error shows a default or what an argument must be."""

    def __init__(self, shown: str) -> None:
        self.shown = shown

    def __repr__(self) -> str:
        return self.shown


_DEFAULT = _Shown("<captured_default_value>")


class Bound:
    """The arguments of one call, put in order.

    `key` tells calls apart that need recordings of their own: TensorFlow's rules, with all sizes,
    and with variables by identity. `trace` is TensorFlow's own, by which it counts: the sizes of
    composite tensors and those that an `input_signature` leaves open are not in it, and of
    variables only their description and which of them are one.
    """

    __slots__ = ("_keywords", "_signature", "_values", "abstract", "key", "leaves", "variables")

    abstract: bool  # a leaf is a TensorSpec and has no numbers
    key: Key
    leaves: list[Any]  # the tensors, in TensorFlow's order; a TensorSpec where one was given
    variables: list[Variable]  # each once, in the order of their aliases

    def __init__(
        self, signature: Signature, names: Names, values: Sequence[Any], keywords: int
    ) -> None:
        found = Found()
        self.key = (names, tuple([read(value, found) for value in values]))
        self.leaves, self.variables, self.abstract = found.leaves, found.variables, found.abstract
        self._signature, self._values, self._keywords = signature, values, keywords

    @property
    def trace(self) -> Key:
        """The key as TensorFlow has it."""
        names, kinds = self.key
        wanted = self._signature.constraints
        return names, tuple(
            [open_kind(wanted.get(n) or k) for n, k in zip(names, kinds, strict=True)]
        )

    @property
    def leaves_sizes_open(self) -> bool:
        """Whether TensorFlow's trace does not know the shapes of all tensors."""
        specs = [spec for spec in nest.flatten(self.specs) if isinstance(spec, TypeSpec)]
        dense = [spec for spec in specs if isinstance(spec, TensorSpec)]
        return len(dense) < len(specs) or not all(s.shape.is_fully_defined() for s in dense)

    def rebuild(self, leaves: Iterable[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional and keyword arguments, with these leaves in place of the tensors."""
        left, names = iter(leaves), self.key[0]
        values = [rebuild(value, left) for value in self._values]
        by_position = len(values) - self._keywords
        keywords = dict(zip(names[by_position:], values[by_position:], strict=True))
        return tuple(values[:by_position]), keywords

    @property
    def specs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The `structured_input_signature`."""
        names, kinds = self.trace
        described = [structure(kind, name) for name, kind in zip(names, kinds, strict=True)]
        by_position = len(described) - self._keywords
        by_name = dict(zip(names[by_position:], described[by_position:], strict=True))
        declared = [name for name in self._signature.keyword_only if name in by_name]
        order = declared + [name for name in by_name if name not in declared]
        return tuple(described[:by_position]), {name: by_name[name] for name in order}


class Signature:
    """The parameters of one decorated function, perhaps with an `input_signature`."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Any = None,
        reduce_retracing: bool = False,
    ) -> None:
        _check_signature(input_signature)
        parameters = list(inspect.signature(python_function).parameters.values())
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self.reduce_retracing = reduce_retracing and input_signature is None
        self.defaults = {p.name: p.default for p in parameters if p.default is not _EMPTY}
        self.constraints: dict[str, Kind] = {}
        if self.input_signature is not None:
            parameters = self._constrain(parameters, list(self.input_signature))
        self._take(parameters)

    def _take(self, parameters: list[inspect.Parameter]) -> None:
        kinds = {kind: [p.name for p in parameters if p.kind is kind] for kind in _KINDS}
        self.only_by_position = len(kinds[_PARAMETER.POSITIONAL_ONLY])
        self.positional: Names = tuple(
            kinds[_PARAMETER.POSITIONAL_ONLY] + kinds[_PARAMETER.POSITIONAL_OR_KEYWORD]
        )
        self.keyword_only: Names = tuple(kinds[_PARAMETER.KEYWORD_ONLY])
        self.rest = next(iter(kinds[_PARAMETER.VAR_POSITIONAL]), None)
        self.others = next(iter(kinds[_PARAMETER.VAR_KEYWORD]), None)
        self._parameters = parameters
        self.returns = ""  # of a concrete function, for messages

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any], specs: bool = False) -> Bound:
        """The arguments in order, or TensorFlow's TypeError.

        With `specs`, which is for `get_concrete_function`, a TensorSpec stands for a tensor, and
        no arguments at all for those of the `input_signature`.
        """
        if specs and self.input_signature and not args and not kwargs:
            args = self.input_signature
        if kwargs:
            kwargs = _sanitized(kwargs)
        placed = self._place(args, kwargs)
        if placed is None:
            raise self._misfit(self._python_says(args, kwargs), args, kwargs)
        names, values, keywords = placed
        if self.constraints:
            values = self._fitted(names, values, args, kwargs)
        bound = Bound(self, names, values, keywords)
        if bound.abstract and not specs:
            given = next(leaf for leaf in bound.leaves if isinstance(leaf, TensorSpec))
            raise convert.unsupported(given)
        return bound

    def _place(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Names, Sequence[Any], int] | None:
        """The names and values by position, then those by keyword and their number."""
        names, count = self.positional, len(args)
        if count == len(names) and not kwargs and not self.keyword_only:
            return names, args, 0
        if count > len(names) and self.rest is None:
            return None
        values, left = list(args), dict(kwargs)
        for at in range(count, len(names)):
            name = names[at]
            if name in left and at >= self.only_by_position:
                values.append(left.pop(name))
            elif name in self.defaults:
                values.append(self.defaults[name])
            else:
                return None
        if count > len(names):
            names += tuple(f"{self.rest}_{k}" for k in range(count - len(names)))
        for name in self.keyword_only:
            if name not in left:
                if name not in self.defaults:
                    return None
                left[name] = self.defaults[name]
        if len(left) > len(self.keyword_only):
            twice = left.keys() & self.positional[self.only_by_position :]
            if twice or self.others is None:
                return None
        by_name = sorted(left)  # TensorFlow's order of inputs
        return (*names, *by_name), [*values, *(left[name] for name in by_name)], len(by_name)

    def _fitted(self, names: Names, values: Sequence[Any], args: Any, kwargs: Any) -> list[Any]:
        wanted = self.constraints
        try:
            return [
                fit(wanted[name], value) if name in wanted else value
                for name, value in zip(names, values, strict=True)
            ]
        except Exception as cause:
            raise self._misfit(cause, args, kwargs) from cause

    def _constrain(self, parameters: list[Any], specs: list[Any]) -> list[Any]:
        """The parameters that an input_signature leaves, in TensorFlow's way."""
        constrained: list[Any] = []
        rest = any(p.kind is _PARAMETER.VAR_POSITIONAL for p in parameters)
        for p in parameters:
            if rest and p.kind is _PARAMETER.POSITIONAL_OR_KEYWORD:
                p = p.replace(kind=_PARAMETER.POSITIONAL_ONLY)
            if p.name == "self":
                constrained.append(p)
            elif p.kind is _PARAMETER.VAR_POSITIONAL:
                for at, spec in enumerate(specs):
                    name = f"{p.name}_{at}"
                    constrained.append(_PARAMETER(name, _PARAMETER.POSITIONAL_ONLY))
                    self.constraints[name] = read(spec, Found())
                specs = []
            elif p.kind is not _PARAMETER.VAR_KEYWORD:
                if p.kind is _PARAMETER.KEYWORD_ONLY and p.default is _EMPTY:
                    raise TypeError(
                        "Since input_signature is defined, keyword-only parameter "
                        f"`{p.name}` must have a default value"
                    )
                if not specs and p.default is _EMPTY:
                    raise TypeError(f"input_signature missing type constraint for {p.name}")
                self.constraints[p.name] = read(specs[0] if specs else p.default, Found())
                specs = specs[1:]
                constrained.append(p)
        if specs:
            raise TypeError(f"input_signature contains {len(specs)} extra type constraints.")
        return constrained

    def _python_says(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        try:
            inspect.Signature(self._parameters).bind(*args, **kwargs)
        except TypeError as misfit:
            return str(misfit)
        return "the arguments do not fit"

    def _misfit(self, why: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
        return TypeError(
            f"Binding inputs to tf.function failed due to `{why}`. Received args: {args} and "
            f"kwargs: {kwargs} for signature: {self}."
        )

    def __str__(self) -> str:
        shown = []
        for p in self._parameters:
            wanted = self.constraints.get(p.name)
            annotation = _EMPTY if wanted is None else _Shown(text(wanted))
            default = _EMPTY if p.default is _EMPTY else _DEFAULT
            shown.append(_PARAMETER(p.name, p.kind, default=default, annotation=annotation))
        return f"{inspect.Signature(shown)}{self.returns}"


_KINDS = (
    _PARAMETER.POSITIONAL_ONLY, _PARAMETER.POSITIONAL_OR_KEYWORD, _PARAMETER.VAR_POSITIONAL,
    _PARAMETER.KEYWORD_ONLY, _PARAMETER.VAR_KEYWORD,
)  # fmt: skip


def _sanitized(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords as TensorFlow calls them: `_x` is `arg__x`."""
    if all(name[:1].isalpha() and name.isidentifier() for name in kwargs):
        return kwargs
    named = {}
    for name, value in kwargs.items():
        swapped = "".join(c if c.isalnum() else "_" for c in name)
        named[swapped if swapped[:1].isalpha() else f"arg_{swapped}"] = value
    if len(named) < len(kwargs):
        raise ValueError(
            "Name collision after sanitization. Please rename tf.function input parameters. "
            f"Original: {sorted(kwargs)}, Sanitized: {sorted(named)}"
        )
    return named


def _check_signature(signature: Any) -> None:
    if signature is None:
        return
    if not isinstance(signature, (tuple, list)):
        raise TypeError(f"input_signature must be either a tuple or a list, got {type(signature)}.")
    wrong = [arg for arg in nest.flatten(signature) if not isinstance(arg, TypeSpec)]
    if wrong:
        raise TypeError(
            "input_signature must be a possibly nested sequence of TensorSpec objects, got "
            f"invalid args {wrong} with types {[type(arg) for arg in wrong]}."
        )
