"""GT501 broadcast-mismatch: (N, 1) and (N,) became (N, N), and the loss is over all pairs."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ....traits import LINEAR, Family
from ...facts import changes, heads
from ...facts.case import Case, Run
from ...facts.expressions import operand
from ...facts.replay import flows_in, gradient, replay, wide
from ...source import edits, sources
from ...trace import Event, Value
from ...trace.finding import CONFIRMED, Finding, Verdict, WouldBe
from ...trace.states import norm
from ...trace.training import Head, Training
from ..base import Rule


class BroadcastMismatch(Rule):
    code, name, states = "GT501", "broadcast-mismatch", frozenset({"ok", "exploding", "vanishing"})
    title = "shapes (N, 1) and (N,) were broadcast to (N, N): the loss compares all pairs"
    lesson = """\
A column of N predictions and a vector of N targets are not element by element: broadcasting makes a
matrix of all N x N pairs of them. Nothing fails, the loss looks like a loss, and its minimum is the
mean of the targets for every input. Give both the same shape before they meet."""
    failing = """\
x = tf.constant([[1.0], [2.0], [3.0]])
y = tf.constant([2.0, 4.0, 6.0])
w = tf.Variable([[0.5]])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(x @ w - y))
grad = tape.gradient(loss, w)
"""
    cured = """\
x = tf.constant([[1.0], [2.0], [3.0]])
y = tf.constant([[2.0], [4.0], [6.0]])
w = tf.Variable([[0.5]])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(x @ w - y))
grad = tape.gradient(loss, w)
"""
    ignore = "When all pairs are meant; write the axis out then: `a[:, None] - b[None, :]`."

    def examine(self, case: Case) -> Finding | None:
        question = case.question
        for event in question.once(self, lambda: [e for e in question.makers if _mismatched(e)]):
            if event in case.question.passed and case.through(event) is not None:
                finding = self._explain(case, event)
                if finding is not None:
                    return finding
        return None

    def examine_run(self, run: Run) -> Iterable[Finding]:
        """In a loss of Keras's, shapes of another rank are stretched as well."""
        if any(f.code == self.code for f in run.findings):
            return
        for training in run.trace.trainings:
            for head in training.heads:
                made = heads.stretched(head)
                if made is not None:
                    yield self._stretched(training, head, made)

    def _stretched(self, training: Training, head: Head, made: tuple) -> Finding:
        last = heads.output(head)
        shape, labels = (_told(s) for s in (head.shape, head.label_shape))
        fix = "give the output and the labels the same shape"
        if len(head.shape) == 3 and len(head.label_shape) < 3:
            fix += ": leave out return_sequences=True of the last recurrent layer, or flatten"
        where = [(last.made if last else None, "the output"), (head.made, "its loss")]
        return Finding(
            self.code, self.name, self.cause, "wrong", "", "", training.place,
            f"the output of shape {shape} and the labels of shape {labels} are broadcast to "
            f"{_told(made)}: the loss compares values that do not belong together.",
            fix, also=[(p, words) for p, words in where if p is not None and p != training.place],
            verdict=Verdict(CONFIRMED, "these shapes were seen"), training=training,
        )  # fmt: skip

    def _explain(self, case: Case, event: Event) -> Finding | None:
        followed = [v for v in event.inputs if v in case.followed]
        if len(followed) != 1 or not case.question.once(
            (self, event), lambda: not _written_out(event) and _reduced(event, case)
        ):
            return None
        prediction = followed[0]
        fixed = next(v for v in event.inputs if v is not prediction)
        names = [operand(event, v) for v in event.inputs]
        shapes = [
            f"`{name}` of shape {v.shape}" if name else f"shape {v.shape}"
            for name, v in zip(names, event.inputs, strict=True)
        ]
        return case.finding(
            self, event.place,
            f"{shapes[0]} and {shapes[1]} are broadcast to {event.outputs[0].shape}: the loss "
            f"compares all {event.outputs[0].array.size} pairs instead of the {fixed.array.size} "
            "that belong together.",
            self._fix(event, prediction, fixed), event=event, state="wrong",
            edit=_edit(event, prediction, fixed),
            change=changes.replayed(
                _would_be(case, event, prediction, fixed), "the step cannot be replayed"
            ),
        )  # fmt: skip

    def _fix(self, event: Event, prediction: Value, fixed: Value) -> str:
        name = operand(event, fixed) or "the targets"
        if len(fixed.shape) < len(prediction.shape):
            index = "[..., None]" if len(fixed.shape) > 1 else "[:, None]"
            return (
                f"give both the same shape: use `{name}{index}` here, or `tf.squeeze` the "
                "predictions"
            )
        return f"give both the same shape: use `tf.squeeze({name}, -1)` here"


def _told(shape: tuple) -> str:
    words = ", ".join("N" if n is None or not k else str(n) for k, n in enumerate(shape))
    return f"({words},)" if len(shape) == 1 else f"({words})"


def _edit(event: Event, prediction: Value, fixed: Value) -> str | None:
    place = event.place
    given = edits.argument(place, event.inputs.index(fixed))
    if given is None or sources.line(place.file, place.line).count(ast.unparse(given)) > 1:
        return None  # it meets the predictions more than once
    if len(fixed.shape) > len(prediction.shape):
        new = edits.called(place, "squeeze", edits.text(place, given), "-1")
    else:
        new = edits.tight(place, given) + ("[..., None]" if len(fixed.shape) > 1 else "[:, None]")
    return edits.replaced(place, new, given)


def _meets(event: Event) -> bool:
    """Does it compare or multiply two operands element by element? A sum of the two is often meant
    to be of all pairs: a matrix and its bias."""
    others = Family.ADDS | Family.COMPARES | Family.ROUNDS
    return event.is_a(Family.ELEMENTWISE) and not event.is_a(others)


def _bends(event: Event) -> bool:
    """Is it a curve? A sum of plain differences over all pairs is that of the right ones."""
    straight = LINEAR | Family.DIVIDES | Family.COMPARES | Family.ROUNDS
    return event.is_a(Family.ELEMENTWISE) and not event.is_a(straight)


def _mismatched(event: Event) -> bool:
    """(..., N, 1) with (..., N): one more axis on one side, both expanded."""
    if not _meets(event) or len(event.inputs) != 2:
        return False
    low, high = sorted((v.shape for v in event.inputs), key=len)
    made = event.outputs[0].shape
    if not low or len(high) != len(low) + 1 or high[-1] != 1 or high[:-1] != low or low[-1] < 2:
        return False
    size = event.outputs[0].array.size
    return made != high and made != low and size > event.inputs[0].array.size


def _reduced(event: Event, case: Case) -> bool:
    """Does the matrix of pairs go element by element to a sum over all of it, and nowhere else?"""
    made = event.outputs[0]
    bends, reduced = _bends(event), False
    pairs = {made}
    for later in sorted(case.walk.events, key=lambda e: e.time):
        if later.time <= event.time or not pairs & set(later.inputs):
            continue
        result = later.outputs[0]
        if later.is_a(Family.TOTALS):
            if result.shape and not _ends(result, case):
                return False
            bends = bends or not later.is_a(Family.SUMS)
            reduced = True
            continue
        if result.shape != made.shape or later.is_a(Family.MIXES):
            return False
        if any(v not in pairs and _own_pairs(v, pairs) for v in later.inputs):
            return False
        bends = bends or _bends(later)
        pairs.add(result)
    return reduced and bends


def _written_out(event: Event) -> bool:
    """Is the column made where the two meet, as in `a[:, None] - b`? Then pairs are meant."""
    column = max(event.inputs, key=lambda v: len(v.shape))
    maker = column.maker
    if maker is None or not maker.is_a(Family.SELECTS | Family.RESHAPES):
        return False
    return event.place.contains(maker.place)


def _own_pairs(value: Value, pairs: set[Value]) -> bool:
    """A matrix of all pairs that came from elsewhere: pairs are meant."""
    full = next(iter(pairs)).shape
    if value.shape != full:
        return False
    queue, seen = [value], set()
    while queue:
        v = queue.pop()
        if v in pairs or (v.maker is not None and _mismatched(v.maker)):
            return False
        if v.maker is not None and v.shape == full and v not in seen:
            seen.add(v)
            queue += v.maker.inputs
    return True


def _ends(value: Value, case: Case) -> bool:
    """Is what is left summed up as well, before it is the target?"""
    while value not in case.targets:
        later = [e for e in value.users if e in case.question.passed]
        if len(later) != 1 or later[0].outputs[0].array.size > value.array.size:
            return False
        value = later[0].outputs[0]
    return not value.shape


def _would_be(case: Case, event: Event, prediction: Value, fixed: Value) -> WouldBe | None:
    """The gradient when the targets have the shape of the predictions."""
    if event.replay is None:
        return None
    arrays = [
        wide(v.array) if v is prediction else wide(v.array).reshape(prediction.shape)
        for v in event.inputs
    ]
    try:
        outputs, pull = event.replay(arrays)
        flows = flows_in(case.tape, case.walk.cotangents)
        changed = {n: wide(n.array) for n in case.nodes if n.floating}
        run = replay(case.targets, {**changed, event.outputs[0]: outputs[0]}, flows)
        run.pulls[event] = pull
        total = gradient(run, case.query, case.nodes, case.targets)
    except Exception:  # the shapes do not fit what follows
        return None
    if run.failed or total is None:
        return None
    total = total.astype(case.answer.array.dtype)
    return WouldBe(total, norm(total) or 0.0)


RULE = BroadcastMismatch()
