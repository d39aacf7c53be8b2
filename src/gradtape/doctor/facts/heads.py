"""What the end of a model can give, beside what its loss and its labels ask for."""

from __future__ import annotations

import ast
import math
import re

from ..source import edits
from ..source.place import Place
from ..trace.training import Head, Numbers, Part

RANGES = {
    "sigmoid": (0.0, 1.0), "hard_sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0), "tanh": (-1.0, 1.0),
    "softsign": (-1.0, 1.0), "relu": (0.0, math.inf), "relu6": (0.0, 6.0),
    "softplus": (0.0, math.inf), "exponential": (0.0, math.inf),
}  # fmt: skip
DISTANCES = frozenset({
    "mean_squared_error", "mean_absolute_error", "huber", "log_cosh",
    "mean_squared_logarithmic_error", "mean_absolute_percentage_error",
})  # fmt: skip
BINARY = frozenset({"binary_crossentropy", "binary_focal_crossentropy"})
ONE_HOT = frozenset({"categorical_crossentropy", "categorical_focal_crossentropy"})
SPARSE = frozenset({"sparse_categorical_crossentropy"})
ENTROPIES = BINARY | ONE_HOT | SPARSE
WORDS = {
    "mean_squared_error": "mean squared error", "mean_absolute_error": "mean absolute error",
    "binary_crossentropy": "binary cross entropy",
    "categorical_crossentropy": "categorical cross entropy",
    "sparse_categorical_crossentropy": "sparse categorical cross entropy",
    "binary_focal_crossentropy": "binary focal cross entropy",
    "categorical_focal_crossentropy": "categorical focal cross entropy",
    "log_cosh": "log cosh", "huber": "the Huber loss",
    "mean_squared_logarithmic_error": "mean squared logarithmic error",
    "mean_absolute_percentage_error": "mean absolute percentage error",
}  # fmt: skip
SHAPES = frozenset({"Reshape", "Flatten", "Permute", "Identity", "Cropping1D", "UpSampling2D"})
# Layers whose output is what their activation gives.
UNITS = frozenset({
    "Dense", "EinsumDense", "Conv1D", "Conv2D", "Conv3D", "Conv1DTranspose", "Conv2DTranspose",
    "Conv3DTranspose", "SeparableConv1D", "SeparableConv2D", "DepthwiseConv2D",
})  # fmt: skip
ALONE = frozenset({"Activation", "Softmax", "ReLU", "function"})
MANY = 1000  # classes
BATCH = -1  # in the place of the size of a batch
CELLS = frozenset({"SimpleRNN", "LSTM", "GRU"})


def output(head: Head) -> Part | None:
    """The layer that the numbers of the output come from, if it is one whose numbers are known."""
    for part in reversed(head.parts):
        if part.kind in SHAPES or (part.kind == "Activation" and part.activation == "linear"):
            continue
        return part if part.kind in UNITS | ALONE | CELLS and part.activation != "?" else None
    return None


def called(part: Part | None, otherwise: str = "the output layer") -> str:
    """A layer by the name that the user gave it; Keras's own names only count, but they are all
    there is of a layer that nobody saw made."""
    if part is None:
        return "the output"
    kind = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", part.kind).lower()
    own = not re.fullmatch(rf"{kind}(_\d+)?|.*_\d+|conv\dd?|.*_normalization", part.name)
    return f"`{part.name}`" if own or part.made is None else otherwise


def give(part: Part, activation: str) -> str:
    """What is to be done to have another activation."""
    if part.kind == "function":
        return f"use `{_function(part, activation)}` in the place of `{part.name}`"
    return f'give {called(part)} the activation "{activation}"'


def leave_out(part: Part) -> str:
    """What is to be done to have none."""
    if part.kind == "function":
        return f"leave `{part.name}` out"
    return f"leave the activation of {called(part)} out"


def _function(part: Part, activation: str) -> str:
    package = part.name.partition(".")[0] if "." in part.name else "tf"
    return f"{package}.nn.{activation}"


def units(head: Head) -> int | None:
    """How many numbers the output has for an example, or for each of its places."""
    return head.shape[-1] if len(head.shape) > 1 else None


def number(value: float) -> str:
    """A number of the data, as people write it."""
    return f"{int(value):,}" if value == int(value) and abs(value) < 1e9 else f"{value:.4g}"


def span(labels: Numbers) -> str:
    """The labels in a few words."""
    known = labels.distinct
    if known is not None and len(known) <= 4:
        words = [number(n) for n in known]
        return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    return f"{number(labels.low)} to {number(labels.high)}"


def classes(labels: Numbers | None, most: int = MANY) -> int | None:
    """How many classes there are, if the labels are class numbers from 0 on."""
    if labels is None or labels.distinct is None or labels.low != 0 or labels.nan:
        return None
    count = int(labels.high) + 1
    return count if 2 <= count <= most and len(labels.distinct) > count // 2 else None


def class_count(labels: Numbers | None) -> int | None:
    """How many units the labels need if they are class numbers, from 0 or 1 on and without large
    gaps; numbers that are only whole are quantities."""
    if labels is None or labels.distinct is None or labels.low not in (0, 1) or labels.nan:
        return None
    count = int(labels.high) + 1
    return count if 2 < count <= MANY and len(labels.distinct) > int(labels.high) // 2 else None


def flat(labels: Numbers | None) -> bool:
    """Is there one number for each example?"""
    return labels is not None and (len(labels.shape) == 1 or labels.shape[1:] == (1,))


def stretched(head: Head) -> tuple[int | None, ...] | None:
    """The shape in which a distance compares output and labels, if it is that of neither of them:
    Keras takes off a last axis of 1 where the ranks differ by one, and NumPy's rule does the rest.
    """
    if head.loss not in DISTANCES:
        return None
    one, other = _named(head.shape), _named(head.label_shape)
    if not one or not other:
        return None
    if len(one) == len(other) + 1 and one[-1] == 1:
        one = one[:-1]
    elif len(other) == len(one) + 1 and other[-1] == 1:
        other = other[:-1]
    rank = max(len(one), len(other))
    one, other = ((1,) * (rank - len(s)) + s for s in (one, other))
    if one == other or any(a != b and 1 not in (a, b) for a, b in zip(one, other, strict=True)):
        return None
    made = tuple(b if a == 1 else a for a, b in zip(one, other, strict=True))
    return None if made == one else tuple(None if n == BATCH else n for n in made)


def _named(shape: tuple[int | None, ...]) -> tuple[int, ...]:
    """A shape with a number for the batch that is no size, so that it fits nothing else."""
    if not shape or any(n is None for n in shape[1:]):
        return ()
    return (BATCH, *(n for n in shape[1:] if n is not None))


# --- what is to be written instead ----------------------------------------------------------------
def argument(place: Place | None, keyword: str, position: int | None, new: str) -> str | None:
    """The line of a call with an argument in the place of the one that it has, or in addition."""
    call = None if place is None else place.node
    if place is None or not isinstance(call, ast.Call):
        return None
    named = {k.arg: k.value for k in call.keywords}
    if keyword in named:
        return edits.replaced(place, new, named[keyword])
    if position is not None and len(call.args) > position:
        return edits.replaced(place, new, call.args[position])
    given = [edits.text(place, a) for a in call.args]
    given += [f"{k.arg}={edits.text(place, k.value)}" for k in call.keywords]
    function = edits.text(place, call.func)
    return edits.replaced(place, f"{function}({', '.join([*given, f'{keyword}={new}'])})")


def activated(part: Part, activation: str) -> str | None:
    """The line of a layer with another activation."""
    if part.kind == "function":
        call = None if part.made is None else part.made.node
        if part.made is None or not isinstance(call, ast.Call) or len(call.args) != 1:
            return None
        if call.keywords and activation != "softmax":
            return None  # an axis, which others do not have
        return edits.replaced(part.made, _function(part, activation), call.func)
    if part.kind == "Activation":
        return argument(part.made, "activation", 0, f'"{activation}"')
    if part.kind == "Dense":
        return argument(part.made, "activation", 1, f'"{activation}"')
    return (
        argument(part.made, "activation", None, f'"{activation}"') if part.kind in UNITS else None
    )


def straight(part: Part) -> str | None:
    """The line of a layer without its activation."""
    if part.kind == "function":
        return None if part.made is None else edits.unwrapped(part.made)
    call = None if part.made is None else part.made.node
    if part.made is None or not isinstance(call, ast.Call) or part.kind not in UNITS:
        return None
    if any(k.arg == "activation" for k in call.keywords):
        return edits.without(part.made, "activation")
    return activated(part, "linear")


def rebuilt(made: Place | None, units: str, activation: str) -> str | None:
    """The line of a Dense layer with another width and another activation."""
    call = None if made is None else made.node
    if made is None or not isinstance(call, ast.Call) or any(k.arg is None for k in call.keywords):
        return None
    named = {str(k.arg): edits.text(made, k.value) for k in call.keywords}
    given = [edits.text(made, a) for a in call.args]
    if given:
        given[0] = units
    else:
        named["units"] = units
    if len(given) > 1:
        given[1] = f'"{activation}"'
    elif activation == "linear":
        named.pop("activation", None)
    else:
        named["activation"] = f'"{activation}"'
    given += [f"{name}={value}" for name, value in named.items()]
    return edits.replaced(made, f"{edits.text(made, call.func)}({', '.join(given)})")


def class_of(head: Head) -> str | None:
    """The class that the user made the loss of, where it is one of Keras's."""
    call = None if head.made is None else head.made.node
    name = edits.text(head.made, call.func) if head.made and isinstance(call, ast.Call) else ""
    last = name.rpartition(".")[2]
    return last if last.lower() == head.loss.replace("_", "") else None


def with_loss(head: Head, compiled: Place | None, loss: str) -> str | None:
    """The line of `compile` with another loss, where that is a word in it."""
    if compiled is None or head.made != compiled or not isinstance(compiled.node, ast.Call):
        return None
    named = {k.arg: k.value for k in compiled.node.keywords}
    given = named.get("loss")
    if not (isinstance(given, ast.Constant) and isinstance(given.value, str)):
        return None
    return edits.replaced(compiled, f'"{loss}"', given)
