"""The layers of a computation: what multiplied the state, and how it and its gradient grew.

A layer is an op that multiplies what comes to it by something: a product with weights, or a
squashing function with its derivative. The chain with the most of them is the depth of the network,
or the length of its loop over time. One weight at one place, over and over, is a recurrence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...traits import HANDS_ON, PRODUCTS, Family
from ..trace import Event, Tape, Value, Variable
from .graph import ancestors, makers

if TYPE_CHECKING:
    from .case import Case

TURNS = 5  # of a loop, at least
STRETCHES = 5  # of a long loop, in which it grows or shrinks


@dataclass(eq=False)
class Layer:
    """One product on the chain, with its sizes in both directions."""

    event: Event
    state: Value  # what is multiplied
    weight: Value | None  # what it is multiplied by; None of a squashing function
    variable: Variable | None  # behind the weight
    made: Value
    before: float  # root mean square of the state
    after: float  # root mean square of the result
    arrived: float  # norm of the cotangent of the result
    passed: float  # norm of the cotangent of the state

    @property
    def key(self) -> tuple:
        """The same for every turn of a loop that multiplies by the same thing."""
        return self.event.place, self.variable or _number(self.weight) or self.weight


def _number(weight: Value | None) -> float | None:
    """A number in the source is another object in every turn."""
    plain = weight is not None and weight.maker is None and np.size(weight.array) == 1
    return float(np.real(np.ravel(weight.array)[0])) if plain and weight is not None else None


@dataclass(eq=False)
class Chain:
    """Layers from the first to the last."""

    layers: list[Layer]

    def __len__(self) -> int:
        return len(self.layers)

    @property
    def forward(self) -> float:
        """How many times larger the values are after the last layer than before the first."""
        return _ratio(self.layers[-1].after, self.layers[0].before)

    @property
    def backward(self) -> float:
        """How many times larger the gradient is before the first layer than after the last."""
        return _ratio(self.layers[0].passed, self.layers[-1].arrived)

    def rate(self, total: float) -> float:
        """A growth over all layers as one per layer."""
        return float(max(total, 1e-300) ** (1 / len(self.layers)))

    def gradual(self, backward: bool) -> bool:
        """Did it change layer by layer, and not at one of them?"""
        first = self.layers[0]
        if backward:
            sizes = [first.passed, *[layer.arrived for layer in self.layers]][::-1]
        else:
            sizes = [first.before, *[layer.after for layer in self.layers]]
        sound = [n for n in sizes if np.isfinite(n)]  # what comes after an overflow says nothing
        steps = np.diff(np.log(np.maximum(sound, 1e-300)))
        total = float(steps.sum())
        if len(steps) < 3 or not total:
            return False
        if len(steps) >= 4 * STRETCHES:  # up and down, and still further from stretch to stretch
            steps = np.array([part.sum() for part in np.array_split(steps, STRETCHES)])
        along = steps * np.sign(total) > 0
        return bool(np.abs(steps).max() <= 0.55 * abs(total) and along.mean() >= 0.6)

    @property
    def recurrent(self) -> Chain | None:
        """The part that multiplies by one thing at one place, when that is most of it."""
        turns: dict[tuple, list[Layer]] = {}
        for layer in self.layers:
            turns.setdefault(layer.key, []).append(layer)
        longest = max(turns.values(), key=len)
        return Chain(longest) if len(longest) >= TURNS and longest[0].weight is not None else None

    def entry(self, nodes: Sequence[Value]) -> int | None:
        """The first layer that the source comes to, as weight or as state."""
        return min((self._entries[n] for n in nodes if n in self._entries), default=None)

    @cached_property
    def _entries(self) -> dict[Value, int]:
        found: dict[Value, int] = {}
        for k, layer in enumerate(self.layers):
            for value in _near(layer):
                found.setdefault(value, k)
        return found


def chain(case: Case) -> Chain | None:
    """The chain with the most layers among all that led to the target."""
    found: Chain | None = case.question.once(chain, lambda: _chain(case))
    return found


def _chain(case: Case) -> Chain | None:
    events = _longest(case.targets, case.tape)
    products = [step for step in events if _is_product(*step)]
    squashes = [step for step in events if _is_curve(step[0])]
    steps = products if len(products) >= 3 or len(products) >= len(squashes) else squashes
    layers = [_layer(case, *step) for step in steps]
    return Chain(layers) if len(layers) >= 3 else None


def _longest(targets: list[Value], tape: Tape) -> list[tuple[Event, Value, Value]]:
    """The longest way to a target in layers: event, the input on the way, the output.

    How the data were made before the tape began is no layer of it.
    """
    depth: dict[Value, int] = {}
    via: dict[Value, tuple[Event, Value]] = {}
    above = ancestors(targets)
    events = [e for e in makers(above) if e.way == "op" and tape.number in e.tapes]
    for event in events:
        given = [v for v in event.inputs if v.floating and _is_state(event, v)]
        if not given:
            continue
        longest = max(given, key=lambda v: (depth.get(v, 0), *_likeness(v, event)))
        step = event.is_a(PRODUCTS) or _is_curve(event)
        for made in event.outputs:
            if made.floating and made is not longest:
                depth[made] = depth.get(longest, 0) + step
                via[made] = event, longest
    value: Value | None = max(targets, key=lambda t: depth.get(t, 0), default=None)
    found: list[tuple[Event, Value, Value]] = []
    while value is not None and value in via:
        event, given_value = via[value]
        found.append((event, given_value, value))
        value = given_value
    return found[::-1]


def _is_curve(event: Event) -> bool:
    """Does it multiply the gradient by the derivative of a curve that loops run through?"""
    curves = Family.SQUASHES | Family.PERIODIC | Family.EXPONENTIALS
    return event.is_a(curves) or event.kind == "Pow"


def _is_product(event: Event, state: Value, made: Value) -> bool:
    """By something else: a square is no layer."""
    return event.is_a(PRODUCTS) and any(v is not state for v in event.inputs)


def _likeness(value: Value, event: Event) -> tuple[bool, bool, bool]:
    """Of two operands at a start: the state has the shape of the result, comes once, and is no
    variable."""
    once = len(value.users) < TURNS
    return value.shape == event.outputs[0].shape, once, value.variable is None


def _is_state(event: Event, value: Value) -> bool:
    """Of a quotient, what is divided; of others, all operands."""
    return not event.is_a(Family.DIVIDES) or value is event.inputs[0]


def _layer(case: Case, event: Event, state: Value, made: Value) -> Layer:
    others = [v for v in event.inputs if v is not state]
    weight = others[0] if others and event.is_a(PRODUCTS) else None
    cotangents = case.walk.cotangents
    return Layer(
        event, state, weight, None if weight is None else _variable(weight), made,
        size(state.array), size(made.array), norm(cotangents.get(made)),
        norm(cotangents.get(state)),
    )  # fmt: skip


def _variable(value: Value) -> Variable | None:
    """The variable that a weight is a read of, or a part of."""
    while value.variable is None and value.maker is not None:
        if not value.maker.is_a(HANDS_ON) or not value.maker.inputs:
            return None
        value = value.maker.inputs[0]
    return value.variable


def _near(layer: Layer) -> set[Value]:
    """The weight of a layer, its state, and what they were handed on from."""
    found: set[Value] = set()
    for value in (layer.weight, layer.state):
        while value is not None:
            found.add(value)
            maker = value.maker
            value = maker.inputs[0] if maker is not None and maker.is_a(HANDS_ON) else None
    return found


def size(array: Any) -> float:
    """The root mean square, in double precision."""
    if array is None or not np.size(array):
        return 0.0
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.mean(np.abs(np.asarray(array).astype(_wide(array))) ** 2)))


def norm(array: Any) -> float:
    """The Euclidean norm, in double precision; 0 of nothing."""
    if array is None or not np.size(array):
        return 0.0
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.sum(np.abs(np.asarray(array).astype(_wide(array))) ** 2)))


def _wide(array: Any) -> Any:
    return np.complex128 if np.asarray(array).dtype.kind == "c" else np.float64


def _ratio(after: float, before: float) -> float:
    if not np.isfinite(after):
        return float("inf")
    return after / before if before > 0 else 0.0


def overflowed(case: Case) -> bool:
    """Did numbers that were merely large become infinite, rather than at a pole?"""
    fault = case.fault
    if fault is None or fault.event is None:
        return False
    known = [v.array for v in fault.event.inputs if v.floating and v.array is not None]
    largest = max((float(np.abs(np.asarray(a)).max()) for a in known if np.size(a)), default=0.0)
    if fault.backward:
        g = np.abs(np.asarray(fault.cotangent, np.float64))
        largest = max(largest, float(g.max()) if g.size else 0.0)
        return largest > 1e9
    limit = fault.event.traits.overflows_at or 1e9
    half = any(np.asarray(a).dtype.itemsize == 2 for a in known)
    return largest > (min(limit, 100.0) if half else limit)
