"""What an op is: its forward in NumPy, its derivative rules, its shape rule, samples for the tests.

Rules speak of `g` (the cotangent of the result), the operands `a, b, c, …`, the result `y`, their
shapes and dtypes (`a_shape`, `y_shape`, `a_dtype`, …: these cost no memory), all `shapes`, and the
op's own parameters. A rule keeps what it names, nothing else: its signature is read here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .operand import Operand, vocabulary

if TYPE_CHECKING:
    from ..traits import Traits

LETTERS = "abcdefh"  # operands; g is the cotangent
# The kinds of dtypes (NumPy's letters; V is bfloat16) that ops take.
FLOATS, NUMBERS, REALS, ANYTHING = "fcV", "iufcV", "iufV", "biufcVO"
registry: dict[str, Op] = {}

Plan = tuple[tuple[str, ...], Callable[[Any, dict, Any], list]]


class Op:
    """One operation. Called from rules, it computes on plain arrays and records on operands;
    `apply`, which takes and returns tensors, is what everything above the engine calls."""

    apply: Callable[..., Any]
    infer: Callable[..., Any]  # the results' shapes and dtypes, from those of the operands
    calls: Any = None  # how to call the rules of an element-wise op; the sweep fills it in
    # What a declaration may say, and what holds where it does not:
    shape: Callable[..., Any]  # the result's shape from those of the operands and params
    sample: Any = None  # operands and params for the tests
    label: str  # TensorFlow's name, for messages
    kind: str  # what the doctor takes it for, where TensorFlow makes it of several ops
    traits: Traits | None = None  # of a kind that TensorFlow does not have
    push: str = "transposed"  # the pull; or "diagonal", "linear", "bilinear"
    params: Sequence[str] = ()  # names, in the order in which NumPy's function has them
    joint: bool = False  # one rule gives the cotangents of all operands, as a sequence
    real: bool = False  # not holomorphic: rules take cotangents of complex numbers as they are
    broadcasts: bool = False  # the sweep sums cotangents back to their operand's shape
    batches: bool = False  # rules take a `g` with more leading axes: a stack of cotangents
    numpy: Sequence[Callable[..., Any]] = ()  # what rules call it, beside its forward
    takes: str = ANYTHING
    dtype: Any = 0  # of the result: that of an operand by number, or what `ops/infer.py` has
    of_texts: Op | None = None  # the op for operands that are texts, which this one does not take
    casts: bool = False  # the result has a dtype of its own
    hides_pole: bool = False  # a cotangent of 0 stays 0 where a tangent of 0 becomes nan
    later: Any = None  # puts off what is added to the second operand's cotangent, in sweeps
    meanwhile: Any = None  # that operand's rule, which leaves the work to other threads

    def __init__(self, name: str, forward: Callable[..., Any], pull: Any, **said: Any) -> None:
        """`pull` is a rule or a reason why there is none, or one of these for each operand."""
        said.setdefault("label", name.title().replace("_", ""))
        said.setdefault("kind", said["label"])
        self.name, self.forward = name, forward
        self.rules = pull if isinstance(pull, tuple) else (pull,)
        self.names = tuple(_names(rule) for rule in self.rules)
        self.plans: dict[tuple[bool, ...], Plan] = {}
        for trait in _TRAITS:  # on the op itself: 0.03 us faster to read than from its class
            setattr(self, trait, said.get(trait, getattr(Op, trait, None)))
        unknown = {n for n in sum(self.names, ()) if not self._knows(n)} | {*said} - {*_TRAITS}
        if unknown or name in registry:
            raise TypeError(f"the op {name!r} is declared twice, or names {unknown}")
        registry[name] = self
        for function in (forward, *self.numpy):
            vocabulary.setdefault(function, self)

    def _knows(self, name: str) -> bool:
        """Whether a rule may name this: an operand, the result, a shape, a dtype, a parameter."""
        of_operand = name[0] in LETTERS and name[1:] in ("", "_shape", "_dtype")
        return of_operand or name in _FIELDS or name in self.params

    def __call__(self, *values: Any, **params: Any) -> Any:
        for value in values:
            if value.__class__ is Operand:
                return Operand.apply(self, values, params)
        return self.forward(*values, **params)

    def plan(self, tracked: tuple[bool, ...]) -> Plan:
        """The names that the rules of the tracked operands keep, and how to come by them."""
        if tracked not in self.plans:
            wanted: dict[str, None] = {}
            for i, on in enumerate(tracked):
                if on:
                    wanted.update(dict.fromkeys(self.names[0 if self.joint else i]))
                    if self.broadcasts:
                        wanted[f"{LETTERS[i]}_shape"] = None
            # One function for all names: a list of functions takes twice as long.
            text = f"lambda operands, params, y: [{', '.join(map(_field, wanted))}]"
            keep = eval(compile(text, f"<what {self.name} keeps>", "eval"))
            self.plans[tracked] = tuple(wanted), keep
        return self.plans[tracked]


_TRAITS = Op.__annotations__


def _names(rule: Any) -> tuple[str, ...]:
    code = getattr(rule, "__code__", None)  # None or a reason has none
    return () if code is None else code.co_varnames[1 : code.co_argcount]


_FIELDS = {
    "y": "y",
    "y_shape": "[t._value.shape for t in y] if y.__class__ is tuple else y._value.shape",
    "shapes": "[a._value.shape for a in operands]",
}


def _field(name: str) -> str:
    """How to write what a name in a rule stands for, in one application of the op."""
    operand = f"operands[{LETTERS.find(name[0])}]"
    if name in LETTERS:
        return operand
    if name[1:] in ("_shape", "_dtype") and name != "y_shape":
        return f"{operand}._value.{name[2:]}"
    return _FIELDS.get(name) or f"params.get({name!r})"
