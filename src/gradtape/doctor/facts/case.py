"""What a rule is given: one answer of one query, and the facts about it, found when asked for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from ..source.place import Place
from ..trace import Answer, Event, Query, Trace, Value, Variable
from ..trace.finding import CONFIRMED, Finding, Verdict, WouldBe
from ..trace.history import History
from ..trace.states import norm
from . import (
    backward,
    bridges,
    changes,
    counterfactual,
    faults,
    graph,
    onset,
    partial,
    spots,
    stores,
    zeros,
)

NUMBERS = frozenset({"zero", "nan", "inf", "vanishing", "exploding"})  # states of what is there
# Cuts that are made to keep something fixed.
DELIBERATE = frozenset({"numpy-conversion", "stop-gradient"})
# Causes that break a path wherever they stand, and are mended each at its own place.
INDEPENDENT = frozenset({
    "numpy-conversion", "python-scalar", "constant-copy", "stop-gradient", "rounding-op",
    "variable-rewrap", "variable-assign", "keras-predict", "metric-as-loss",
})  # fmt: skip
# Why a fault that is not a break has no gradient across it.
OPEN = {
    "none": "no computation leads from it to the target",
    "zero": "it depends on what is put in the place of this",
    "nan": "it depends on how the number is kept finite",
    "inf": "it depends on how the number is kept finite",
    "vanishing": "this is the gradient for these numbers; it depends on how they are scaled",
    "exploding": "this is the gradient for these numbers; it depends on how they are scaled",
    "wrong": "what was meant is not known",
    "error": "the program ended before it",
}


class Question:
    """One query: the facts that all of its answers share."""

    def __init__(self, trace: Trace, query: Query) -> None:
        self.trace, self.query = trace, query
        self._bridged: dict[frozenset[str], backward.Walk] = {}
        self._searches: dict[tuple[Value, ...], graph.Search] = {}
        self._known: dict[Any, Any] = {}

    def once(self, key: Any, find: Callable[[], Any]) -> Any:
        """What is the same for all answers, found when the first of them asks for it."""
        if key not in self._known:
            self._known[key] = find()
        return self._known[key]

    @cached_property
    def targets(self) -> list[Value]:
        return [t for t in self.query.targets if isinstance(t, Value)]

    def nodes_of(self, answer: Answer) -> list[Value]:
        """The values that a source stands for: the reads of a variable, or a tensor itself."""
        if isinstance(answer.source, Variable):
            return self.trace.reads(answer.source)
        return [answer.source] if isinstance(answer.source, Value) else []

    @cached_property
    def search(self) -> graph.Search:
        """The ways from the targets up."""
        return graph.Search(self.targets, self.query.tape)

    def search_to(self, values: Sequence[Value]) -> graph.Search:
        """The ways from some other values up."""
        if list(values) == self.targets:
            return self.search
        key = tuple(values)
        if key not in self._searches:
            self._searches[key] = graph.Search(list(values), self.query.tape)
        return self._searches[key]

    def above(self, *values: Value) -> graph.Values:
        """All that some values were computed from, and they themselves."""
        found: graph.Values = self.once(("above", values), lambda: graph.ancestors(list(values)))
        return found

    @cached_property
    def walk(self) -> backward.Walk:
        """The cotangents as the tape had them, op by op."""
        return backward.walk(self.trace, self.query, self.query.tape)

    @cached_property
    def passed(self) -> dict[Event, None]:
        """The events that the tape's gradient passes, newest first: known without a walk."""
        return backward.passed(self.query)

    @cached_property
    def fault(self) -> faults.Fault | None:
        """Where the values first stopped being finite."""
        return faults.forward_fault(self.targets)

    @cached_property
    def followed(self) -> graph.Values:
        """What the tape's gradient comes to on its way to whatever the tape watches."""
        watched = {w.value for w in self.query.tape.watches}
        return self.ways([v for v in self.trace.values if v in watched or v.variable in watched])

    def ways(self, start: list[Value]) -> graph.Values:
        """What the tape's gradient comes to on its way to some values."""
        queue, tape, passed = start[:], self.query.tape, self.passed
        seen: graph.Values = {}
        while queue:
            value = queue.pop()
            if value not in seen:
                seen[value] = None
                for event in value.users:
                    if event in passed:
                        queue += [
                            o for o in event.outputs
                            if o not in seen and graph.cut(event, value, o, tape) is None
                        ]  # fmt: skip
        return seen

    def bridged(self, causes: frozenset[str]) -> backward.Walk:
        """The cotangents as they would be if the breaks of these causes were mended: others, on
        other ways to the source, may be meant."""
        if causes not in self._bridged:
            tape = self.query.tape if causes else None
            self._bridged[causes] = backward.walk(self.trace, self.query, tape, causes)
        return self._bridged[causes]

    @cached_property
    def mistaken(self) -> bool:
        """Is every source the twin of a variable that the gradient does reach, made at the same
        line, and kept out of it on purpose? Then the other one was meant, as with the two networks
        of Q-learning."""
        answers = [a for a in self.query.answers if a.state == "none"]
        asked = [a.source for a in answers if isinstance(a.source, Variable)]
        if len(asked) < len(self.query.answers):
            return False
        reached = dict.fromkeys(v.variable for v in self.walk.cotangents if v.variable is not None)
        twins = [_likeness(self.trace, v) for v in reached if v.trainable]
        for source in asked:
            found = self.search.path(self.trace.reads(source))
            same = _likeness(self.trace, source)
            if found is None or same not in twins or not DELIBERATE & {c.cause for c in found.cuts}:
                return False
            twins.remove(same)
        return bool(asked)

    @cached_property
    def makers(self) -> list[Event]:
        """What the targets were made by in this step, oldest first: not by what updated a
        variable before it."""
        above = graph.ancestors(self.targets, {"assign"})
        return graph.makers(above)


def _likeness(trace: Trace, variable: Variable) -> tuple:
    """What two variables that stand for each other have in common."""
    return variable.made, next((v.shape for v in trace.reads(variable)), None)


class Case:
    """One answer of one query."""

    def __init__(
        self,
        trace: Trace,
        query: Query,
        answer: Answer,
        history: History,
        question: Question | None = None,
    ) -> None:
        self.trace, self.query, self.answer, self.history = trace, query, answer, history
        self.question = question or Question(trace, query)

    # --- what was asked ---------------------------------------------------------------------------
    @property
    def tape(self) -> Any:
        return self.query.tape

    @cached_property
    def tape_name(self) -> str:
        """The tape in the user's words: what `.gradient` was called on."""
        call = self.query.place.node
        function = call.func if isinstance(call, ast.Call) else None
        if isinstance(function, ast.Attribute) and function.attr == self.query.method:
            return ast.unparse(function.value)
        return "tape"  # of a library's own

    @property
    def source(self) -> Value | Variable | Any:
        return self.answer.source

    @property
    def variable(self) -> Variable | None:
        """The source, if it is a variable."""
        return self.source if isinstance(self.source, Variable) else None

    @cached_property
    def nodes(self) -> list[Value]:
        """The values that the source stands for."""
        return self.question.nodes_of(self.answer)

    @property
    def targets(self) -> list[Value]:
        return self.question.targets

    # --- how they hang together -------------------------------------------------------------------
    @cached_property
    def below(self) -> graph.Values:
        """All that was computed from the source."""
        return faults.descendants(self.nodes)

    def leads_to(self, *values: Value) -> bool:
        """Were these computed from the source?"""
        return not self.question.above(*values).keys().isdisjoint(self.nodes)

    @cached_property
    def path(self) -> graph.Path | None:
        """The path from the source to the target with the fewest cuts, if there is any."""
        return self.question.search.path(self.nodes)

    @cached_property
    def cut(self) -> graph.Cut | None:
        """The first cut on that path, from the source on."""
        return self.path.cuts[0] if self.path is not None and self.path.cuts else None

    def through(self, event: Event | None) -> graph.Path | None:
        """The path that goes by an event, if there is one; else just the path."""
        if event is None or self.path is None or event in self.path.events:
            return self.path
        before = self.question.search_to(event.inputs).path(self.nodes)
        after = self.question.search.path(event.outputs)
        return self.path if before is None or after is None else before.by(event, after, self.tape)

    def cut_by(self, *causes: str) -> graph.Cut | None:
        """The first cut, if it is of one of these causes, and to be mended at all."""
        if self.cut is None or self.cut.cause not in causes or self.mistaken:
            return None
        return self.cut

    def cuts_by(self, *causes: str) -> list[graph.Cut]:
        """The cuts of one of these causes on the path, each place once: all must be mended.

        Behind a detour the same numbers are met again, cast or compared: only what would cut the
        path by itself counts as another break.
        """
        if self.path is None or self.mistaken:
            return []
        found: list[graph.Cut] = []
        for cut in self.path.cuts:
            counts = cut is self.path.cuts[0] or cut.cause in INDEPENDENT
            met = any(cut.place == other.place for other in found)
            if cut.cause in causes and counts and not met:
                found.append(cut)
        return found

    def order_of(self, cut: graph.Cut) -> int:
        """The number of a cut on the path, from the source on."""
        return self.path.cuts.index(cut) if self.path is not None else 0

    @property
    def mistaken(self) -> bool:
        return self.question.mistaken

    @property
    def walk(self) -> backward.Walk:
        return self.question.walk

    @property
    def bridged(self) -> backward.Walk:
        cuts = self.path.cuts if self.path is not None else ()
        return self.question.bridged(frozenset(c.cause for c in cuts))

    @cached_property
    def would_be(self) -> tuple[WouldBe | None, str | None]:
        """The gradient across the breaks, or why there is none."""
        found = [self.bridged.cotangents[n] for n in self.nodes if n in self.bridged.cotangents]
        if not found or self._incomplete():
            return None, self._why_not()
        total = sum(found[1:], found[0])
        made = [
            words for event, words in self.bridged.bridged.items()
            if any(v in self.below for v in event.inputs)
        ]  # fmt: skip
        how = "; ".join(dict.fromkeys(word for words in made for word in words))
        return WouldBe(total, norm(total) or 0.0, how), None

    def came_back(self, event: Event) -> bool:
        """Of a detour: is it certain that the value came back? Computed again, it may prove so."""
        return event.sure or event in self.bridged.proven

    def _incomplete(self) -> bool:
        """Did the way across the breaks end somewhere, on another way from the source?"""
        if self.path is None or not self.path.cuts or not self.bridged.stuck:
            return False
        below = self.below
        passed = [e.attrs.get("exits", ()) for e in self.bridged.events if self.came_back(e)]
        back = {exit for exits in passed for exit in exits}
        for event in self.bridged.stuck:
            exits = event.attrs.get("exits", ())
            if not self.came_back(event) and back.issuperset(exits):
                continue  # these came back elsewhere for certain, and here perhaps never
            if any(v in below for v in event.inputs):
                return True
        return False

    def _why_not(self) -> str:
        if self.targets and all(t.array is None for t in self.targets):
            return "the numbers of this step are not known"
        cuts = {c.cause: c.event for c in (self.path.cuts if self.path is not None else ())}
        if cuts.get("discrete-index", cuts.get("sampling-op")) is not None:
            return bridges.why_not(cuts.get("discrete-index") or cuts["sampling-op"])
        if "gather-index" in cuts and cuts["gather-index"].kind != "OneHot":
            name = cuts["gather-index"].name
            return f"{name} takes it as an index, and nothing smooth stands in for one"
        if self.path is None:
            return OPEN["none"]
        if self.bridged.failed is None:
            for event, given, made in self.path.joints[::-1]:
                known = self.bridged.cotangents
                if made in known and given not in known and given.array is not None:
                    return bridges.why_not(event)
        return self.bridged.failed or "the numbers on the way were not kept"

    @cached_property
    def fault(self) -> faults.Fault | None:
        """Where numbers first stopped being finite: in the values, else in the cotangents."""
        return self.question.fault or faults.backward_fault(self.walk, self.nodes)

    @property
    def inherited(self) -> bool:
        """Did a step before leave numbers that are not finite, whose cause was looked at there?"""
        fault = self.fault
        if fault is None:
            return False
        if fault.event is not None:
            return fault.event.way == "gradient"
        return fault.value.variable is not None and self.history.broken_before(self.query.place)

    @cached_property
    def deaths(self) -> list[zeros.Death]:
        """The ops that ended the ways to the source with nothing but zeros."""
        return zeros.deaths(self.walk, self.nodes)

    @cached_property
    def followed(self) -> graph.Values:
        """What the tape's gradient comes to on its way to the source or to whatever it watches."""
        shared, passed = self.question.followed, self.question.passed
        own = [n for n in self.nodes if n not in shared and any(e in passed for e in n.users)]
        return shared | self.question.ways(own) if own else shared

    @cached_property
    def lost_term(self) -> graph.Cut | None:
        """Of a gradient that is there: a term of the target that has no share in it."""
        return partial.lost_term(self)

    def meeting(self, event: Event) -> Event:
        """Where the numbers of an event beside the path come into it; on the path, the event."""
        below = self.below
        if any(v in below for v in event.inputs):
            return event
        ahead = faults.descendants(event.outputs)
        for met in graph.in_order(user for value in ahead for user in value.users):
            if any(v in below for v in met.inputs) and any(v in ahead for v in met.inputs):
                return met
        return event

    # --- saying it --------------------------------------------------------------------------------
    def words(self, mark: Any = None) -> list[str]:
        """The path in words, the culprit event in brackets."""
        if isinstance(mark, Event):
            mark = self.meeting(mark)
        path = self.through(mark)
        if path is None:
            return []
        middle = [f"[{e.name}]" if e is mark else e.name for e in path.events]
        return [self.answer.name, *middle, self.query.target_name]

    def finding(
        self,
        rule: Any,
        place: Place | None,
        message: str,
        fix: str,
        *,
        event: Any = None,
        change: changes.Change | None = None,
        **more: Any,
    ) -> Finding:
        """A hypothesis about this answer, with the change that is claimed to help; without one, it
        is to mend the breaks on the path."""
        state = more.pop("state", self.answer.state)
        why_not = more.pop("why_not", None) or self._open(state)
        claim = change or changes.bridge()
        if state in NUMBERS and event is not None and place is event.place:
            place, message, more["also"] = self._in_layer(event, message, more.get("also", []))
        message = _on_one_line(message, place, event and event.place)
        return Finding(
            rule.code, rule.name, more.pop("cause", rule.cause), state,
            self.answer.name, self.query.target_name, place, message, fix,
            path=self.words(event), query=self.query, why_not=why_not,
            sources=[self.answer.name], steps=[self.query.step],
            trial=lambda: (counterfactual.verdict(self, claim, state), claim.exact),
            survey=lambda: (
                spots.survey(self, event, claim.bridge and self._mended), onset.onset(self, state)
            ), **more,
        )  # fmt: skip

    def _open(self, state: str) -> str:
        """Why the gradient is not known, when no trial gives one."""
        led = state == "none" and self.path is not None
        return "what would help is not known" if led else OPEN[state]

    @property
    def _mended(self) -> bool:
        return self.would_be[0] is not None

    def _in_layer(self, event: Event, message: str, also: list) -> tuple[Place, str, list]:
        """Numbers that go wrong inside a layer are mended where the layer is made."""
        layer = event.layer
        if layer is None:
            return self._in_loss(event, message, also)
        if layer.made is None:
            return event.place, message, also
        own = f"`{event.name}` of layer `{layer.name}`"
        message = message.replace(f"`{event.place.text}`", own)
        return layer.made, message, [*also, (event.place, f"`{layer.name}` is called here")]

    def _in_loss(self, event: Event, message: str, also: list) -> tuple[Place, str, list]:
        """And those of a library's loss, in no layer of `fit`, where the loss was chosen; what is
        said of the data, and of no op, stays."""
        if f"`{event.place.text}`" not in message:
            return event.place, message, also
        fits = [t for t in self.trace.trainings if t.place == event.place and t.method != "loop"]
        found = {head.made: head for training in fits for head in training.heads}
        if len(found) != 1 or None in found:
            return event.place, message, also
        ((made, head),) = found.items()
        if made is None or made == event.place:
            return event.place, message, also
        own = f"`{event.name}` of the loss `{head.loss}`"
        message = message.replace(f"`{event.place.text}`", own)
        return made, message, [*also, (event.place, "it is computed here")]


def _on_one_line(message: str, *places: Place | None) -> str:
    """A sentence that quotes an expression of several lines, with a short form of it."""
    for place in places:
        if place is not None and "\n" in place.text:
            for text in (place.text, place.text.splitlines()[0]):
                message = message.replace(f"`{text}`", f"`{place.brief}`")
    return message


class ErrorCase:
    """An exception that ended the program, and what had been computed until then."""

    def __init__(self, trace: Trace, history: History, error: BaseException, place: Place) -> None:
        self.trace, self.history, self.error, self.place = trace, history, error, place

    @cached_property
    def leaked(self) -> Place | None:
        """Where a traced function stored what is used where nothing was traced."""
        sights = self.trace.sights
        if sights is None or any(code is self.place.code for code in sights.codes()):
            return None
        return stores.stored(self.trace, self.place)

    def finding(
        self, rule: Any, place: Place | None, message: str, fix: str, **more: Any
    ) -> Finding:
        """A finding about the exception."""
        more = {"source": "", "target": "", "cause": rule.cause, "why_not": OPEN["error"], **more}
        more["verdict"] = Verdict(CONFIRMED, "the exception says so")
        return Finding(
            rule.code, rule.name, more.pop("cause"), "error", more.pop("source"),
            more.pop("target"), place, message, fix, **more,
        )  # fmt: skip


class Run:
    """A whole run: the numbers of all its steps, and the findings that the queries gave."""

    def __init__(
        self, trace: Callable[[], Trace], history: History, findings: list[Finding]
    ) -> None:
        self._trace, self.history, self.findings = trace, history, findings

    @cached_property
    def trace(self) -> Trace:
        """Of what is still in the log."""
        return self._trace()
