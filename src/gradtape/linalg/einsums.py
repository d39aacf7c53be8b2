"""`tf.einsum`: an equation, written with contractions, sums, diagonals and transposes."""

from __future__ import annotations

import re
from typing import Any

from .. import dtypes, errors
from ..framework import convert
from ..ops import linear, shape
from ..ops import reduce as reduce_ops
from ..ops.index import getitem

_FORMAT = re.compile(r"(?P<inputs>[a-zA-Z,.]*)(->(?P<output>[a-zA-Z.]*))?")
_OPTIONS = ("name", "optimize", "greedy")
# Labels for the axes of an ellipsis: letters that no equation can hold, the last axis first.
_ELLIPSIS = "".join(map(chr, range(0x3B1, 0x3C9)))


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Products and sums of the inputs' elements, as the equation says, in Einstein's notation.

    Each input has a letter for each of its axes; letters that the output lacks are summed over.

    >>> import gradtape as tf
    >>> a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.einsum("ij,jk->ik", a, a)
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[ 7., 10.],
           [15., 22.]], dtype=float32)>
    """
    unknown = [key for key in kwargs if key not in _OPTIONS]
    if unknown:
        raise TypeError(
            f"Invalid keyword arguments for einsum: {', '.join(unknown)}. "
            f"Valid arguments: {', '.join(_OPTIONS)}."
        )
    labels, output = _read(equation, len(inputs))
    tensors = _tensors(inputs)
    labels, output = _without_ellipses(labels, output, [t._value.shape for t in tensors])
    operands = _fitted(labels, tensors)
    return _contracted(operands, output, kwargs.get("optimize", "greedy"))


def _tensors(inputs: Any) -> list:
    """All of the first tensor's dtype, to which arrays and numbers are made."""
    first = next((x for x in inputs if convert.is_tensor_like(x)), None)
    hint = None if first is None else convert.dtype_of(first)
    tensors = []
    for x in inputs:
        own = convert.is_tensor_like(x) or hint is None
        t = convert.to_tensor(x) if own else convert.to_tensor(x, hint)
        tensors.append(t)
        if hint is None:
            hint = t._value.dtype
        if hint.kind in "bO" or (hint.kind in "iu" and hint.name not in ("int32", "int64")):
            raise errors.no_kernel("Einsum", dtypes.of(hint).name)
        if t._value.dtype != hint:
            raise convert.mismatch(linear.contract, hint, t._value.dtype)
    return tensors


# --- the equation ---------------------------------------------------------------------------------
def _read(equation: str, count: int) -> tuple[list[str], str]:
    """The labels of the inputs and of the output, which may be left to us."""
    text = equation.replace(" ", "")
    found = _FORMAT.fullmatch(text)
    parts = found["inputs"].split(",") if found else []
    output = found["output"] if found else None
    if found is None or any("." in p.replace("...", "", 1) for p in [*parts, output or ""]):
        raise ValueError(
            f"Subscripts have incorrect format: {equation}. An equation is letters for the axes of "
            "each input, commas between the inputs, then '->' and the letters of the output."
        )
    if len(parts) != count:
        raise ValueError(f'Got {count} inputs for equation "{equation}", expecting {len(parts)}')
    if output is None:
        joined = "".join(parts).replace("...", "")
        once = "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
        output = ("..." if any("..." in p for p in parts) else "") + once
    for c in output.replace("...", ""):
        if output.count(c) > 1:
            raise ValueError(
                f"Output subscripts contain a label appearing more than once: {equation}"
            )
        if not any(c in p for p in parts):
            raise ValueError(
                f"Output subscripts contain the label {c} not present in the input subscripts."
            )
    return parts, output


def _without_ellipses(
    labels: list[str], output: str, shapes: list[tuple[int, ...]]
) -> tuple[list[str], str]:
    """Write a letter for each axis that an ellipsis stands for."""
    written, most = [], 0
    for i, (part, sizes) in enumerate(zip(labels, shapes, strict=True)):
        named = len(part.replace("...", ""))
        free = len(sizes) - named if "..." in part else 0
        if free < 0 or (named + free) != len(sizes):
            raise errors.invalid(
                f"Expected input {i} to have rank {'at least ' * ('...' in part)}{named} but got: "
                f"{len(sizes)}: its subscripts are {part!r} [Op:Einsum] name: "
            )
        most = max(most, free)
        written.append(part.replace("...", _ELLIPSIS[:free][::-1]))
    if most and "..." not in output:
        raise errors.invalid(
            f"Output contains {most} broadcasting dimension(s) but no ellipsis (...) was found in "
            "the output subscripts. [Op:Einsum] name: "
        )
    return written, output.replace("...", _ELLIPSIS[:most][::-1])


def _fitted(labels: list[str], tensors: list) -> list[tuple[str, Any]]:
    """Inputs whose axes of one label have one size: an axis of size 1 under an ellipsis that stands
    for more is dropped, and broadcasting with it."""
    sizes: dict[str, int] = {}
    for part, t in zip(labels, tensors, strict=True):
        for axis, (c, n) in enumerate(zip(part, t._value.shape, strict=True)):
            known = sizes.setdefault(c, n)
            if known != n and not (c in _ELLIPSIS and 1 in (known, n)):
                raise errors.invalid(
                    f"Expected dimension {known} at axis {axis} of the input shaped "
                    f"{list(t._value.shape)} but got dimension {n} (label {c!r}) "
                    "[Op:Einsum] name: "
                )
            sizes[c] = n if known == 1 else known
    fitted = []
    for part, t in zip(labels, tensors, strict=True):
        size = t._value.shape
        kept = [k for k, c in enumerate(part) if size[k] == sizes[c]]
        if len(kept) < len(part):
            t = shape.reshape.apply(t, shape=tuple(size[k] for k in kept))
        fitted.append(("".join(part[k] for k in kept), t))
    return fitted


# --- the computation ------------------------------------------------------------------------------
def _contracted(operands: list[tuple[str, Any]], output: str, optimize: Any) -> Any:
    if len(operands) == 1:
        return _alone(*operands[0], output)
    for i, j in _order(operands, output, optimize):
        first, second = operands[i], operands[j]
        operands = [o for k, o in enumerate(operands) if k not in (i, j)]
        needed = set(output).union(*(part for part, _ in operands))
        both = dict.fromkeys(first[0] + second[0])
        result = "".join(c for c in both if c in needed) if operands else output
        operands.append((result, _pair(*first, *second, result)))
    return operands[0][1]


def _order(operands: list, output: str, optimize: Any) -> list[tuple[int, int]]:
    """Which two to contract, again and again until one is left."""
    if len(operands) == 2:
        return [(0, 1)]
    from opt_einsum import contract_path

    equation = f"{','.join(part for part, _ in operands)}->{output}"
    sizes = [t._value.shape for _, t in operands]
    path, _ = contract_path(equation, *sizes, shapes=True, optimize=optimize)
    pairs = []
    for group in path:
        i, j, *more = sorted(group)
        pairs.append((i, j))
        # Three or more at once: what two make stands last, and takes in the others.
        left = len(operands) - len(pairs)
        for k in sorted(more, reverse=True):
            pairs.append((k - 2, left - 1))
            left -= 1
    return pairs


def _pair(a_labels: str, a: Any, b_labels: str, b: Any, output: str) -> Any:
    """Two operands, of which each is first freed of what the other has no part in."""
    a_only = "".join(c for c in dict.fromkeys(a_labels) if c in b_labels + output)
    b_only = "".join(c for c in dict.fromkeys(b_labels) if c in a_labels + output)
    a, b = _alone(a_labels, a, a_only), _alone(b_labels, b, b_only)
    return linear.contract.apply(a, b, equation=f"{a_only},{b_only}->{output}")


def _alone(labels: str, a: Any, output: str) -> Any:
    """One operand: diagonals of repeated labels, then sums, then the order of the output."""
    for c in dict.fromkeys(labels):
        while labels.count(c) > 1:
            labels, a = _diagonal(labels, a, c)
    gone = [k for k, c in enumerate(labels) if c not in output]
    if gone:
        axes = tuple(k - len(labels) for k in gone)
        a = reduce_ops.sum.apply(a, axis=axes, keepdims=False)
        labels = "".join(c for c in labels if c in output)
    if labels != output:
        axes = tuple(labels.index(c) - len(labels) for c in output)
        a = shape.transpose.apply(a, axes=axes)
    return a


def _diagonal(labels: str, a: Any, c: str) -> tuple[str, Any]:
    """Where two axes of label c have the same index: every (n + 1)th of their n * n pairs."""
    i = labels.index(c)
    j = labels.index(c, i + 1)
    rest = [k for k in range(len(labels)) if k not in (i, j)]
    a = shape.transpose.apply(a, axes=tuple(k - len(labels) for k in [*rest, i, j]))
    *outer, n, _ = a._value.shape
    a = shape.reshape.apply(a, shape=(*outer, n * n))
    a = getitem.apply(a, key=(..., slice(None, None, n + 1)))
    return "".join(labels[k] for k in rest) + c, a
