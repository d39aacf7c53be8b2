"""Threads that wait in native code for work, and how they find each other.

A job is a function `void job(argument, me, count)` that every thread of the crew calls, the caller
among them. Whoever waits looks at memory for a bounded time and then sleeps in the kernel (a futex,
so there are crews on Linux only; elsewhere the caller works alone).
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from .machine import Code, compile, host

INDEX, POINTER, WORD = ir.IntType(64), ir.PointerType(), ir.IntType(32)
# Where the crew's memory holds what, in bytes; each on a cache line of its own.
GO, JOB, ARGUMENT, DONE, ASLEEP, TURN, ARRIVED, BUSY, COUNT = (64 * k for k in range(9))
STOP, FORCED = 64 * 9, 64 * 10
SIZE = 64 * 11
LOOKS = 20_000  # at memory before sleeping: some 50 us
PATIENCE = 2_000  # before the processor is given to others
FUTEX = {"x86_64": 202, "aarch64": 98}
WAIT, WAKE = 128, 129  # of one process alone


def number(n: int) -> ir.Constant:
    return ir.Constant(INDEX, n)


@cache
def wanted() -> int:
    """How many threads the user wants: GRADTAPE_THREADS, OMP_NUM_THREADS, or one for each core.

    It is decided once: code that is compiled later has room for as many threads as the crew has.
    """
    for name in ("GRADTAPE_THREADS", "OMP_NUM_THREADS"):
        told = os.environ.get(name, "").partition(",")[0]
        if told.isdecimal() and int(told):
            return int(told)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def possible(count: int | None = None) -> int:
    """How many of so many threads, or of those that the user wants, this machine can have."""
    if sys.platform != "linux" or os.uname().machine not in FUTEX:
        return 1
    return wanted() if count is None else count


# --- the code -------------------------------------------------------------------------------------
class Writer:
    """Instructions on the crew's memory."""

    def __init__(self, b: ir.IRBuilder, crew: Any) -> None:
        self.b, self.crew = b, crew

    def place(self, at: int) -> Any:
        return self.b.gep(self.crew, [number(at)], source_etype=ir.IntType(8))

    def read(self, at: int) -> Any:
        return self.b.load_atomic(self.place(at), "acquire", 4, typ=WORD)

    def write(self, at: int, value: Any) -> None:
        self.b.atomic_rmw("xchg", self.place(at), value, "acq_rel")

    def add(self, at: int, n: int) -> Any:
        return self.b.atomic_rmw("add", self.place(at), ir.Constant(WORD, n), "acq_rel")

    def pause(self) -> None:
        """Tell the processor that it is a loop of waiting."""
        x86 = os.uname().machine == "x86_64"
        name = "llvm.x86.sse2.pause" if x86 else "llvm.aarch64.hint"
        given = [] if x86 else [ir.Constant(WORD, 1)]
        found = self.b.module.globals.get(name)
        if found is None:
            kind = ir.FunctionType(ir.VoidType(), [g.type for g in given])
            found = ir.Function(self.b.module, kind, name)
        self.b.call(found, given)

    def futex(self, at: int, what: int, value: Any) -> None:
        module = self.b.module
        call = module.globals.get("syscall")
        if call is None:
            kind = ir.FunctionType(INDEX, [INDEX] * 7)
            call = ir.Function(module, kind, "syscall")
        where = self.b.ptrtoint(self.place(at), INDEX)
        wide = self.b.zext(value, INDEX)
        nothing = number(0)
        which = number(FUTEX[os.uname().machine])
        self.b.call(call, [which, where, number(what), wide, nothing, nothing, nothing])

    def give_way(self) -> None:
        module = self.b.module
        call = module.globals.get("sched_yield")
        if call is None:
            call = ir.Function(module, ir.FunctionType(WORD, []), "sched_yield")
        self.b.call(call, [])

    def until(self, met: Any) -> None:
        """Look again and again until `met()` holds; after a while let others run in between."""
        b = self.b
        before = b.block
        head, idle, yields, after = (b.append_basic_block() for _ in range(4))
        b.branch(head)
        b.position_at_end(head)
        looks = b.phi(INDEX)
        looks.add_incoming(number(0), before)
        b.cbranch(met(), after, idle)
        b.position_at_end(idle)
        self.pause()
        more = b.add(looks, number(1))
        looks.add_incoming(more, b.block)
        b.cbranch(b.icmp_unsigned(">", more, number(PATIENCE)), yields, head)
        b.position_at_end(yields)
        self.give_way()
        looks.add_incoming(number(0), b.block)
        b.branch(head)
        b.position_at_end(after)

    def barrier(self, count: Any) -> None:
        """Go on when all have come here."""
        b = self.b
        turn = self.read(TURN)
        came = self.add(ARRIVED, 1)
        last = b.icmp_unsigned("==", b.add(came, ir.Constant(WORD, 1)), b.trunc(count, WORD))
        ends, waits, after = (b.append_basic_block() for _ in range(3))
        b.cbranch(last, ends, waits)
        b.position_at_end(ends)
        self.write(ARRIVED, ir.Constant(WORD, 0))
        self.write(TURN, b.add(turn, ir.Constant(WORD, 1)))
        b.branch(after)
        b.position_at_end(waits)
        self.until(lambda: b.icmp_unsigned("!=", self.read(TURN), turn))
        b.branch(after)
        b.position_at_end(after)


def barrier(module: ir.Module) -> ir.Function:
    """`void meet(crew, count)`: a function, as a job has many of them."""
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER, INDEX]), "meet")
    function.linkage = "internal"
    function.attributes.add("noinline")
    b = ir.IRBuilder(function.append_basic_block())
    with b.if_then(b.icmp_unsigned(">", function.args[1], number(1))):
        Writer(b, function.args[0]).barrier(function.args[1])
    b.ret_void()
    return function


JOB_KIND = ir.FunctionType(ir.VoidType(), [POINTER, INDEX, INDEX])


# Both ways of doing a job are tried, twice each, in the first calls of a round. As long as working
# together pays, a round is so long that the trials alone take less than a fiftieth of the time.
# Where it does not, as when others use the cores, the round is as long as what was lost in trying
# asks for: if it took twice as long, 50 calls, and if it took ten times as long, 450.
TRIALS, ROUND, LONGEST = 2, 128, 1 << 20
PATIENT = 50
# Words that a job remembers: calls in this round, how long it is, the ticks alone and together.
MEMORY = 4


def call_together(b: ir.IRBuilder, crew: Any, job: Any, argument: Any, memory: Any) -> None:
    """Let the crew do a job, the caller with it; alone, if that is quicker, if the crew is busy, or
    if there is none. The numbers are the same. A crew that is FORCED never lets one work alone."""
    known = [b.gep(memory, [number(k)], source_etype=INDEX) for k in range(MEMORY)]
    calls, length, by_one, by_all = (b.load(place, typ=INDEX) for place in known)
    trial = b.icmp_unsigned("<", calls, number(2 * TRIALS))
    for_one = b.select(
        trial, b.icmp_unsigned("<", calls, number(TRIALS)), b.icmp_unsigned("<", by_one, by_all)
    )
    forced = b.load(Writer(b, crew).place(FORCED), typ=INDEX)
    for_one = b.and_(for_one, b.icmp_unsigned("==", forced, number(0)))
    begin = ticks(b)
    _together(b, crew, job, argument, for_one)
    spent = b.sub(ticks(b), begin)
    before = b.select(for_one, by_one, by_all)
    # Of two trials the quicker one counts: the first may have warmed up caches and woken threads,
    # and either may have been held up.
    first = b.icmp_unsigned("==", b.urem(calls, number(TRIALS)), number(0))
    least = b.select(b.icmp_unsigned("<", before, spent), before, spent)
    mean = b.udiv(b.add(b.mul(before, number(3)), spent), number(4))
    told = b.select(trial, b.select(first, spent, least), mean)
    b.store(told, b.select(for_one, known[2], known[3]))
    last = b.icmp_unsigned("==", calls, number(2 * TRIALS - 1))
    lost = b.sub(told, by_one)  # what is told last is how long all took
    wait = b.udiv(b.mul(lost, number(PATIENT)), b.or_(by_one, number(1)))
    wait = b.select(b.icmp_unsigned("<", wait, number(LONGEST)), wait, number(LONGEST))
    pays = b.icmp_unsigned("<=", told, by_one)
    length = b.select(last, b.select(pays, number(ROUND), wait), length)
    b.store(length, known[1])
    following = b.add(calls, number(1))
    tried = b.icmp_unsigned(">=", following, number(2 * TRIALS))
    over = b.and_(tried, b.icmp_unsigned(">=", following, length))
    b.store(b.select(over, number(0), following), known[0])


def ticks(b: ir.IRBuilder) -> Any:
    """A clock that costs next to nothing, in units of its own."""
    if host().triple.startswith(("aarch64", "arm64")):
        kind = ir.FunctionType(INDEX, [])
        return b.asm(kind, "mrs $0, cntvct_el0", "=r", [], True)
    read = b.module.globals.get("llvm.readcyclecounter")
    if read is None:
        read = ir.Function(b.module, ir.FunctionType(INDEX, []), "llvm.readcyclecounter")
    return b.call(read, [])


def _together(b: ir.IRBuilder, crew: Any, job: Any, argument: Any, for_one: Any) -> None:
    w = Writer(b, crew)
    zero, one = ir.Constant(WORD, 0), ir.Constant(WORD, 1)
    together, alone, after = (b.append_basic_block() for _ in range(3))
    count = b.load(w.place(COUNT), typ=INDEX)
    several, ask = b.icmp_unsigned(">", count, number(1)), b.append_basic_block()
    b.cbranch(b.and_(several, b.not_(for_one)), ask, alone)
    b.position_at_end(ask)
    free = b.cmpxchg(w.place(BUSY), zero, one, "acq_rel", "acquire")
    b.cbranch(b.extract_value(free, 1), together, alone)
    b.position_at_end(together)
    b.store(job, w.place(JOB))
    b.store(argument, w.place(ARGUMENT))
    w.write(DONE, zero)
    w.add(GO, 1)
    wake, work = b.append_basic_block(), b.append_basic_block()
    b.cbranch(b.icmp_unsigned("!=", w.add(ASLEEP, 0), zero), wake, work)
    b.position_at_end(wake)
    w.futex(GO, WAKE, ir.Constant(WORD, 1 << 30))
    b.branch(work)
    b.position_at_end(work)
    b.call(job, [argument, number(0), count])
    others = b.trunc(b.sub(count, number(1)), WORD)
    w.until(lambda: b.icmp_unsigned("==", w.read(DONE), others))
    w.write(BUSY, zero)
    b.branch(after)
    b.position_at_end(alone)
    b.call(job, [argument, number(0), number(1)])
    b.branch(after)
    b.position_at_end(after)


def _worker() -> str:
    """`void worker(crew, me)`: do jobs until it is told to stop."""
    module = ir.Module("crew")
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER, INDEX]), "worker")
    crew, me = function.args
    b = ir.IRBuilder(function.append_basic_block())
    w = Writer(b, crew)
    zero = ir.Constant(WORD, 0)
    begin = b.block
    waits, looks, idle, sleeps, works, ends, jobs = (b.append_basic_block() for _ in range(7))
    b.branch(waits)
    b.position_at_end(waits)
    seen = b.phi(WORD)
    seen.add_incoming(zero, begin)
    b.branch(looks)
    b.position_at_end(looks)
    tries = b.phi(INDEX)
    tries.add_incoming(number(0), waits)
    now = w.read(GO)
    b.cbranch(b.icmp_unsigned("!=", now, seen), works, idle)
    b.position_at_end(idle)
    w.pause()
    more = b.add(tries, number(1))
    tries.add_incoming(more, idle)
    b.cbranch(b.icmp_unsigned("<", more, number(LOOKS)), looks, sleeps)
    b.position_at_end(sleeps)
    w.add(ASLEEP, 1)
    w.futex(GO, WAIT, seen)  # returns at once if there is work by now
    w.add(ASLEEP, -1)
    tries.add_incoming(number(0), b.block)
    b.branch(looks)
    b.position_at_end(works)
    b.cbranch(b.icmp_unsigned("!=", w.read(STOP), zero), ends, jobs)
    b.position_at_end(jobs)
    job = b.load(w.place(JOB), typ=JOB_KIND.as_pointer())
    argument = b.load(w.place(ARGUMENT), typ=POINTER)
    count = b.load(w.place(COUNT), typ=INDEX)
    b.call(job, [argument, me, count])
    w.add(DONE, 1)
    seen.add_incoming(now, b.block)
    b.branch(waits)
    b.position_at_end(ends)
    b.ret_void()
    return str(module)


# --- the threads ----------------------------------------------------------------------------------
class Crew:
    """The threads of this process, and the memory by which they speak: as many threads as the user
    wants, or so many."""

    def __init__(self, count: int | None = None) -> None:
        self._room = np.zeros(SIZE + 64, np.uint8)
        self.address = self._room.ctypes.data + -self._room.ctypes.data % 64
        self.count = 1
        self._threads: list[threading.Thread] = []
        self._set(COUNT, 1, ctypes.c_int64)
        if possible(count) > 1:
            self._hire(possible(count))

    def _set(self, at: int, value: int, kind: Any = ctypes.c_int32) -> None:
        kind.from_address(self.address + at).value = value

    def _hire(self, count: int) -> None:
        symbols()
        self._code: Code = compile(_worker())
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)  # without the lock of Python
        worker = kind(self._code.address("worker"))
        for me in range(1, count):
            thread = threading.Thread(
                target=worker, args=(self.address, me), name=f"gradtape {me}", daemon=True
            )
            thread.start()
            self._threads.append(thread)
        self.count = count
        self._set(COUNT, count, ctypes.c_int64)

    def force(self, together: bool) -> None:
        """Whether all jobs are done together, even where one thread would be quicker: for tests."""
        self._set(FORCED, int(together), ctypes.c_int64)

    def dismiss(self) -> None:
        """Let all threads end."""
        if self._threads:
            self._set(COUNT, 1, ctypes.c_int64)
            self._set(STOP, 1)
            libc = ctypes.CDLL(None)
            go = ctypes.c_int32.from_address(self.address + GO)
            go.value += 1
            libc.syscall(FUTEX[os.uname().machine], ctypes.byref(go), WAKE, 1 << 30, None, None, 0)
            for thread in self._threads:
                thread.join(1.0)
            self._threads = []


_lock = threading.Lock()
_crews: list[Crew] = []


def crew() -> Crew:
    """The crew of this process, hired when it is first asked for."""
    with _lock:
        if not _crews:
            _crews.append(Crew())
        return _crews[0]


def size() -> int:
    """How many threads the crew has, or will have."""
    return _crews[0].count if _crews else possible()


def _dismissed() -> None:
    for one in _crews:
        one.dismiss()


def _forked() -> None:
    """In a child there are no threads: whoever has the memory of the crew works alone."""
    global _lock
    _lock = threading.Lock()
    for one in _crews:
        one._threads = []
        one.count = 1
        one._set(COUNT, 1, ctypes.c_int64)
        one._set(BUSY, 0)


atexit.register(_dismissed)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@cache
def symbols() -> None:
    """Tell LLVM where the functions of the system are."""
    libc = ctypes.CDLL(None)
    for name in ("syscall", "sched_yield"):
        llvm.add_symbol(name, ctypes.cast(getattr(libc, name), ctypes.c_void_p).value)
