"""The engine: a log of what a program on TensorFlow does, kept small, and read when it is needed.

While the program runs, events are only appended as raw tuples; `reading` makes a neutral trace of
them when a gradient has something to explain. `listening` and `keras` say what is listened to.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count, groupby
from time import perf_counter
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ....framework.lifetimes import Beside
from ...source.place import Place, at
from ...trace import Asked, Trace
from ..arrivals import Arrival
from ..gradtape.fading import KEEP_BYTES, KEEP_LOOSE, LARGE, Calm, Fader, needed
from ..joining import innermost, with_those_around, without_frames
from ..keras import Hearer
from ..sights import Sights
from . import autograph
from .passing import handles, without
from .values import measure, size

# The first field of a raw event; the last three are code, offset and thread.
(
    OP, MADE, CONVERT, ESCAPE, START, STOP, WATCH, CUSTOM, SCRIPT, PREDICT, QUERY,
    RESET,
) = range(12)  # fmt: skip

# What is kept of older tapes: a chain of steps for the rules that look back.
KEEP_EVENTS, KEEP_TAPES, KEEP_MADE = 2_000, 3, 1_000
THOROUGH = 3  # first calls of a function that are looked into; then those of a power
# To look into a call takes as long as a hundred calls. A sound one is looked into only if there are
# events left to read: so many for each function, and one of a hundred of those of its calls.
FREE, SHARE = 4_000, 100
SMALL = 16  # numbers of a result that are looked at after every call
GLANCES = 64  # calls that are told of together
MISSED = 3  # faults of the listening itself after which it ends


class Engine(Hearer):
    """Listens to TensorFlow; `asked` hears of every gradient query."""

    name = "tensorflow"
    PREDICT = PREDICT

    def __init__(self, asked: Callable[[Asked], None]) -> None:
        super().__init__()
        self.asked = asked
        self.tapes: Beside[Any, int] = Beside()  # their numbers
        self.active: dict[int, list[int]] = {}  # numbers of the recording tapes, by thread
        self.variables: dict[int, Any] = {}  # weak references, by the id of the handle
        self.numbering: Any = None  # see `numbering`
        self._deaf = False
        self.asking = 0  # queries that are being answered
        self.faults: list[str] = []  # of the listening itself
        self.graphs: Any = None  # see `graphs`
        self.before: dict[int, Any] = {}  # what variables hold before the call that is to come
        self.calls: dict[str, int] = {}  # of functions that ask tapes
        self.large: set[str] = set()  # of these, those whose first calls are not all looked into
        self.inside: dict[str, tuple[int, int]] = {}  # events of a call, and of all looks so far
        self.copies: dict[str, Any] = {}  # of these, see `copies`; None when there can be none
        self.passing: dict[str, list[int]] = {}  # arguments of functions that are not held
        self.ready: dict[int, Any] = {}  # of the variables, those that hold something
        self.begun: list[tuple] = []  # queries without an answer, of graphs that are not complete
        self._numbers = count()
        self.looking: Any = None  # the tape, by its number, or the call that is looked at
        self._bytes = 0  # that the log holds, of what is large
        self.dropped = 0  # events that the log held once
        self.left = False  # has a tensor of the log left the tape?
        self._calm = Calm()
        self._heavy = False  # was an op of the log large, or a call, which holds what it was given?
        self._settled = 0  # the length of the log when it was last cut short
        self._fade = Fader(measure)
        self._faded = 0  # events of the log that were looked at for something to let go
        self._steps = 0  # of the log: calls of functions that ask
        self._glances: list[tuple[Any, Any]] = []  # copies that were called, and their numbers
        self.tell_by = float("inf")  # when who follows the run wants to hear of these
        self.sights = Sights()
        self._stirred = 0  # what had changed of these

    @property
    def deaf(self) -> bool:
        """Does the doctor itself compute?"""
        return self._deaf

    @deaf.setter
    def deaf(self, deaf: bool) -> None:
        if deaf is not self._deaf:
            self._deaf = deaf
            if self.numbering is not None:
                self.numbering.own(deaf)

    # --- coming and going -------------------------------------------------------------------------
    def start(self) -> None:
        """Listen as soon as TensorFlow is there: a script may set it up before it imports it."""
        for name, hook in (("tensorflow", self._hook_tensorflow), ("keras", self._hook_keras)):
            arrival = Arrival(name, hook)
            arrival.await_it()
            self._undo.append(arrival.forget)

    def stop(self) -> None:
        while self._undo:
            self._undo.pop()()
        self._calm.end()

    def forget(self) -> None:
        """Let go of the program's objects. An iterator that is freed only after Python has ended
        waits for its threads, and these for Python."""
        self.log.clear()
        self.tapes = Beside()
        for known in (self.before, self.copies, self.ready, self.data, self.begun):
            known.clear()
        self._glances, self.graphs, self.listener = [], None, None
        self.sights.forget()

    def _hook_tensorflow(self) -> None:
        from . import reading  # noqa: F401  now: when Python ends, no threads can be had any more
        from .listening import hook

        self._guarded(hook)

    def _hook_keras(self) -> None:
        from ..keras import hook

        self._guarded(hook)

    def _guarded(self, hook: Callable[[Engine], None]) -> None:
        try:
            hook(self)
        except Exception as fault:  # another version: the program goes on without us
            self.notes.append(f"The doctor cannot listen to all of it: {_words(fault)}.")

    def missing(self, what: str, fault: BaseException) -> None:
        """Something of TensorFlow's inside is not where it was: say so, and go on without."""
        version = getattr(sys.modules.get("tensorflow"), "__version__", "?")
        self.notes.append(
            f"TensorFlow {version} has no {what} that the doctor knows ({_words(fault)}): what "
            "passes there is not seen."
        )

    def at_end(self, work: Callable[[], Any]) -> None:
        self._undo.append(work)

    def failed(self, fault: BaseException) -> None:
        """The listening itself failed: the program must not notice."""
        words = _words(fault)
        if words not in self.faults:
            self.faults.append(words)
        if len(self.faults) >= MISSED:
            self._deaf = True

    # --- tapes and queries ------------------------------------------------------------------------
    def number(self, tape: Any) -> int:
        known = self.tapes.get(tape)
        if known is None:
            known = next(self._numbers)
            self.tapes.put(tape, known)
        return known

    def fresh(self) -> int:
        """A number for a tape."""
        return next(self._numbers)

    def recording(self, graph: Any, thread: int) -> list[int]:
        """The tapes that are recording: in a graph that is being built, or in a thread."""
        if graph is not None:
            return self.graphs.of(graph).active
        return self.active.setdefault(thread, [])

    def query(self, event: tuple, frame: FrameType, graph: Any = None) -> None:
        """A tape has answered, or failed to, while a graph was built."""
        from .reading import asked
        from .stand_ins import keep

        self.catch_up()
        length = len(self.log)
        if graph is not None:
            self.log += self._sketch(graph, event)
        asks, error = map(keep, event[3:7]), without_frames(event[8])
        self.log.append((*event[:3], *asks, event[7], error, *event[9:]))
        self.looking = event[1]
        try:
            self.asked(asked(event, frame))
        finally:  # it may stop the program
            self.looking = None
            if graph is not None:
                del self.log[length:]
            self.trim()

    def unfinished(self) -> None:
        """The program ended with an exception: look at what was asked in a graph that broke off."""
        begun, self.begun = self.begun, []
        for event, sight, graph in begun:
            self.query(event, sight, graph)

    def _sketch(self, graph: Any, event: tuple) -> list[tuple]:
        from .expanding import sketch
        from .graphs import Spot

        spot = Spot(event[-3], event[-2], [], None, False, False)
        return sketch(self, graph, spot, event[-1])

    def lasting(self, name: str, args: Any) -> Any:
        """What may be held of the arguments of a call."""
        which = self.passing.get(name)
        if which is None:
            which = self.passing[name] = handles(args)
        return self.quietly(without, args, which) if which else args

    def quietly(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call what computes with TensorFlow itself, and hear nothing of it."""
        was, self.deaf = self.deaf, True
        try:
            return function(*args)
        finally:
            self.deaf = was

    def called(self, event: tuple, copy: Any = None, numbers: Any = ()) -> None:
        """A function was called; when it asks tapes, look at their answers: at the numbers of a
        copy, and now and then, or when these are not sound, at all that happened."""
        name, call = event[1], event[5]
        self._bytes += _bytes(event)
        self._heavy = True
        if not self.graphs.traits(name)[1]:
            self.trim()
            return
        self._steps += 1
        self.calls[name] = count = self.calls.get(name, 0) + 1
        # A look takes as long as a hundred calls: where every call is glanced at, they are rarer.
        told = copy is not None and copy.whole
        first = 1 if name in self.large else THOROUGH
        due = count <= first or (_rare(count) if told else _power_of_four(count))
        events, spent = self.inside.get(name, (0, 0))
        due = due and spent + events <= _allowed(count, events)
        if self._stirred != (stirred := self.sights.look()):  # a flag that was traced is set anew
            self._stirred, due = stirred, True
        if not told:
            due = self._breaks(name, event[4]) or due
        bad = copy.unsound(numbers) if copy is not None else None
        if copy is not None and (bad or copy.last):
            due = copy.suspicious(bad, count) or due
        if due or bad:
            self.catch_up()
        if not (due and self._looked(event, call, copy)) and copy is not None:
            self._glances.append((copy, numbers))
            if bad or len(self._glances) >= GLANCES or perf_counter() >= self.tell_by:
                self.catch_up()
        if copy is None or self._steps > 2 * KEEP_TAPES or self._bytes > KEEP_BYTES:
            self.trim()

    def catch_up(self) -> None:
        """Tell of the calls that were only glanced at; one by one would cost 30 us each."""
        glances, self._glances = self._glances, []
        for copy, pairs in groupby(glances, key=lambda pair: pair[0]):
            rows = [numbers for _, numbers in pairs]
            for question in copy.questions:
                self.asked(question.asked(rows))

    def _looked(self, event: tuple, call: Any, copy: Any) -> bool:
        """Look into a call; False when nothing could be seen."""
        self.deaf, self.looking = True, event
        try:
            return self._inside(event, call, copy)
        finally:
            self.deaf, self.looking = False, None
            self._bytes += sum(map(size, call.held()))

    def _inside(self, event: tuple, call: Any, copy: Any) -> bool:
        """The queries inside of a call, one after the other; were there any with an answer?"""
        from .graphs import Spot
        from .reading import asked, expanded

        _, name, inputs, _, _, _, layer, measures, outer, _, code, offset, thread = event
        spot = Spot(code, offset, outer, layer, measures, False)
        events = expanded(self, name, inputs, call, spot, thread)
        queries = [k for k, inner in enumerate(events) if inner[0] == QUERY]
        for k in queries:
            call.limit = k + 1
            query = asked(events[k], events[k][-5])
            self.asked(query)
            if copy is not None and query.cancelled:
                copy.allow(query.place, query.cancelled)
        call.limit = None
        self.inside[name] = call.work, self.inside.get(name, (0, 0))[1] + call.work
        if call.bytes > KEEP_BYTES:
            self.large.add(name)
        return bool(queries)

    def _breaks(self, name: str, results: Any) -> bool:
        """Is a result not finite, for the first time?"""
        key = f"{name} broken"
        if self.calls.get(key) or all(map(_finite, results)):
            return False
        self.calls[key] = 1
        return True

    def raised_at(self, error: BaseException) -> Place | None:
        """The user's innermost frame of an exception, in the source that the user wrote."""
        found, words = innermost(error), str(error)
        strange = {} if self.graphs is None else self.graphs.strange
        used = next((place for tensor, place in strange.items() if tensor in words), None)
        inner = used or autograph.told(words)
        if found is None or (inner is not None and found[0].co_filename not in autograph.MAPS):
            found = inner or found
        return None if found is None else at(*autograph.original(*found))

    def trace(self) -> Trace:
        """The log of this moment as a neutral trace."""
        if self.graphs is None:  # TensorFlow never came; at the end, not everything can be imported
            return Trace(self.name)
        from .reading import Reader

        self._forget_unread()
        if any(map(_gone, self.log)):
            self.log[:] = [event for event in self.log if not _gone(event)]
            self._faded = 0
            self._steps = sum(map(self._asks, self.log))
        trace = Reader(self).read()
        trace.sights = self.sights
        trace.trainings, trace.steps = self.trainings, self.steps
        return trace

    def _forget_unread(self) -> None:
        """To read a call is to compute it again: of those that nobody has looked into, the last
        ones are read as far as the events of their function allow."""
        left: dict[str, int] = {}
        for k in reversed(range(len(self.log))):
            event = self.log[k]
            if not self._asks(event) or event[5].events is not None:
                continue
            name = event[1]
            work, spent = self.inside.get(name, (0, 0))
            room = left.setdefault(name, _allowed(self.calls[name], work) - spent)
            left[name] = room - work
            if left[name] < 0:
                kept = [event for event in self.log[: k + 1] if event[0] == MADE]
                self.dropped += k + 1 - len(kept)
                self.log[: k + 1] = kept
                self._faded = 0
                return

    def plain(self, value: Any) -> Any:
        from .values import outside

        return self.quietly(outside, value)

    def at(self, code: CodeType, offset: int) -> Place:
        return at(*autograph.original(code, offset))

    def sample(self, dataset: Any) -> Any:
        from .batches import whole

        return self.quietly(whole, dataset)

    # --- keeping it small -------------------------------------------------------------------------
    def trim(self, most: int = KEEP_EVENTS, alone: bool = False) -> None:
        """Forget what no later query needs: all before the last tapes, when there is much of it;
        `alone`: before the one that is looked at."""
        log = self.log
        few = len(log) < max(most, 2 * self._settled if most else 0) and self._bytes <= KEEP_BYTES
        if few and self._steps <= 2 * KEEP_TAPES:  # a function that asks is a step of many events
            return
        # Of a large log nearly all are ops: one pass finds the rest, and the calls that ask.
        rest = [(k, event) for k, event in enumerate(log) if event[0] != OP or self._asks(event)]
        starts = [k for k, event in rest if event[0] in (START, OP)]
        answered = max((k + 1 for k, event in rest if event[0] in (QUERY, OP)), default=0)
        if alone:
            own = [k for k in starts if log[k] is self.looking or log[k][1] == self.looking]
            starts = starts[-KEEP_TAPES:] if not own else own[:1]
        first = needed(log, starts[-KEEP_TAPES:], answered, self._size, self._may_be_asked)
        first = with_those_around([pair for pair in rest if pair[0] < first], first, START, STOP)
        alive = [event for k, event in rest if k < first and event[0] == MADE][-KEEP_MADE:]
        self.dropped += first
        log[:first] = alive
        rest = [pair for pair in rest if pair[0] >= first]
        self.left = any(event[0] == ESCAPE for _, event in rest)
        self._bytes, self._settled, self._faded = sum(map(self._size, log)), len(log), 0
        self._steps = sum(event[0] == OP for _, event in rest)
        self._calm.mind(len(log), self.dropped)

    def _size(self, event: tuple) -> int:
        """What an event holds, of what is large."""
        return 0 if event[0] == OP and not self._heavy else _bytes(event)

    def grew(self, more: int) -> None:
        """The log holds so many bytes more: let go of what is too much."""
        self._bytes += more
        self._heavy = self._heavy or more > 0
        loose = len(self.log) > max(KEEP_LOOSE, 2 * self._settled) and not any(self.active.values())
        if self.asking or not (loose or self._bytes > KEEP_BYTES):
            return
        self.trim(0)
        if self._bytes > KEEP_BYTES:
            self._fade_large()

    def _may_be_asked(self, start: tuple) -> bool:
        """Is a tape or call looked at just now, or has a tape something left to answer to who
        holds it?"""
        if start is self.looking or start[1] == self.looking:
            return True
        if start[0] != START:
            return False
        tape = start[2].tape()
        return tape is not None and tape._tape is not None

    def _fade_large(self) -> None:
        """Let large tensors go; what a tape needs of them it holds itself."""
        log, fade = self.log, self._fade

        def faded(thing: Any) -> Any:
            if isinstance(thing, list):
                return list(map(faded, thing))
            return fade(thing) if _large(thing) else thing

        for k in range(self._faded, len(log) - 1):
            event = log[k]
            if event[0] != OP or not (event[5] is None or event[5].__class__ is dict):
                continue
            if not any(map(_large, (*event[2], *event[4]))) or _drawn(event[1]):
                continue
            given = event[5] and {name: faded(thing) for name, thing in event[5].items()}
            inputs, outputs = tuple(map(faded, event[2])), tuple(map(faded, event[4]))
            log[k] = (*event[:2], inputs, event[3], outputs, given, *event[6:])
        self._faded = len(log) - 1
        self._bytes = sum(map(_bytes, log))

    def _asks(self, event: tuple) -> bool:
        """Is it a call of a function that asks tapes itself?"""
        return event[0] == OP and self.calls.get(event[1], 0) > 0


def _allowed(count: int, events: int) -> int:
    """How many events may be read of a function that was called so often, and has so many."""
    return FREE + count * events // SHARE


def _gone(event: tuple) -> bool:
    """Is it a call of which nothing is known any more?"""
    return event[0] == OP and getattr(event[5], "gone", False)


def _power_of_four(count: int) -> bool:
    return count & (count - 1) == 0 and count.bit_length() % 2 == 1


def _rare(count: int) -> bool:
    """4, 64, 1024, 16384, ..."""
    return count & (count - 1) == 0 and count.bit_length() % 4 == 3


def _large(thing: Any) -> bool:
    return hasattr(thing, "_num_elements") and size(thing) >= LARGE


def _drawn(kind: Any) -> bool:
    """Is it an op that would give something else if it were run again?"""
    word = kind.decode() if isinstance(kind, bytes) else kind
    return any(part in word for part in ("Random", "Iterator", "PyFunc", "Multinomial", "Normal"))


def _bytes(event: tuple) -> int:
    """What an event holds, of what is large."""
    kind = event[0]
    if kind == OP:
        call = event[5]
        held = [*event[4]]
        if call is not None and call.__class__ is not dict:
            held += call.held()
        return sum(filter(LARGE.__le__, map(size, held)))
    if kind == QUERY:
        return sum(filter(LARGE.__le__, map(size, _flat(event[7]))))
    if kind == CONVERT:
        return size(event[2])
    return int(getattr(event[3], "nbytes", 0)) if kind == ESCAPE else 0


def _flat(structure: Any) -> list[Any]:
    import tensorflow as tf

    return tf.nest.flatten(structure)


def _finite(tensor: Any) -> bool:
    """Small ones only: it has to be quick."""
    try:
        if not tensor.dtype.is_floating or tensor._num_elements() > SMALL:
            return True
        return bool(np.isfinite(np.asarray(tensor._numpy(), np.float64)).all())
    except Exception:  # a handle of something
        return True


def _words(fault: BaseException) -> str:
    return f"{type(fault).__name__}: {str(fault).splitlines()[0] if str(fault) else ''}".rstrip(
        ": "
    )
