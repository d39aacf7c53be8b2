"""Proof that threads may share the code of native parts.

`proving()` makes every native part share all that can be shared, and looks at each call before it
runs. Every shared item is executed as 2, 3 and 8 threads would, their parts one after the other in
many orders, over memory that is poisoned before: the results are those of one thread bit for bit,
no part changes a number that belongs to another one by the plan, and none changes anything else.

Then the whole job is done as it lies in memory, where values share room: by 2, 3 and 8 threads of
which one runs at a time, from where all have met to where they meet again, in several orders. Who
needs what another one computes, or writes where another one still reads, must have met it before.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import permutations
from math import prod
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from llvmlite import ir

from gradtape.compile.native import entry, unit
from gradtape.compile.native.crew import INDEX, POINTER
from gradtape.compile.native.machine import Code, Module, host
from gradtape.compile.native.nests import SCRATCH
from gradtape.compile.native.sharing import Region, Sharing
from gradtape.compile.program import Var

from .crews import all_shared, crew_of

THREADS = 2, 3, 8
POISONS = 0xFF, 0x81  # NaN, and a small negative number
GUARD = 256  # bytes around each array


def orders(count: int) -> Sequence[Sequence[int]]:
    """All orders of a few threads. Of more those in which each is the first, each is the last and
    every two come in both orders: rotations of the order and of its reverse."""
    if count <= 3:
        return [*permutations(range(count))]
    line = [*range(count)]
    return [way[k:] + way[:k] for way in (line, line[::-1]) for k in range(count)]


def shares(parts: int, threads: int) -> list[tuple[int, int]]:
    """The first part of each thread and the one after its last, as `entry` has them."""
    return [(me * parts // threads, (me + 1) * parts // threads) for me in range(threads)]


class Memory:
    """The bytes of values, each between two guards."""

    def __init__(self) -> None:
        self._rooms: dict[Var, np.ndarray] = {}

    def room(self, value: Var, size: int) -> None:
        room = np.full(size + 2 * GUARD + 64, POISONS[0], np.uint8)
        shift = -(room.ctypes.data + GUARD) % 64
        self._rooms[value] = room[shift : shift + size + 2 * GUARD]

    def bytes(self, value: Var) -> np.ndarray:
        return self._rooms[value][GUARD:-GUARD]

    def numbers(self, value: Var) -> np.ndarray:
        """Its elements, as bytes."""
        size = prod(value.shape) * value.dtype.itemsize
        return self.bytes(value)[:size].reshape(-1, value.dtype.itemsize)

    def address(self, value: Var) -> int:
        return self._rooms[value].ctypes.data + GUARD

    def __contains__(self, value: Var) -> bool:
        return value in self._rooms

    def guards_are_whole(self) -> bool:
        return all(
            (room[:GUARD] == POISONS[0]).all() and (room[-GUARD:] == POISONS[0]).all()
            for room in self._rooms.values()
        )


def places(region: Region, sharing: Sharing, first: int, last: int) -> np.ndarray:
    """The numbers of a value that some parts write by the plan."""
    axes = [range(size) for size in region.sizes]
    if sharing.parts > 1:
        axes[0] = range(sharing.edges[first], sharing.edges[last])
    total = np.array(region.start)
    for indices, stride in zip(axes, region.strides, strict=True):
        total = np.add.outer(total, np.asarray(indices, np.int64) * stride)
    return total.reshape(-1)


class Turns:
    """Threads of which one runs at a time, until it meets the others: then the next one runs, and
    when all have met, the first one again. The order changes from one meeting to the next."""

    here: Turns

    def __init__(self, count: int, turned: bool) -> None:
        self.count, self.turned = count, turned
        self.go = [threading.Semaphore(0) for _ in range(count)]
        self.back = threading.Semaphore(0)
        self.me = threading.local()

    def meet(self) -> None:
        self.back.release()
        self.go[self.me.number].acquire()

    def run(self, work: Callable[[int], None]) -> None:
        Turns.here = self
        running = {*range(self.count)}

        def thread(me: int) -> None:
            self.me.number = me
            self.go[me].acquire()
            work(me)
            running.discard(me)
            self.back.release()

        threads = [threading.Thread(target=thread, args=(me,)) for me in range(self.count)]
        for one in threads:
            one.start()
        meetings = 0
        while running:
            order = [(me + meetings) % self.count for me in range(self.count)]
            for me in reversed(order) if self.turned else order:
                self.go[me].release()
                self.back.acquire()
            assert len(running) in (0, self.count), "threads wait for some that have ended"
            meetings += 1
        for one in threads:
            one.join()


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
def _meet(crew: int, count: int) -> None:
    Turns.here.meet()


def _module_with_turns(unit: unit.Unit) -> Module:
    """The module of a unit whose threads meet in `Turns`."""
    llvm.add_symbol("gradtape_proof_meet", ctypes.cast(_meet, ctypes.c_void_p).value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry, "barrier", lambda module: ir.Function(
            module, ir.FunctionType(ir.VoidType(), [POINTER, INDEX]), "gradtape_proof_meet"
        ))  # fmt: skip
        module = unit._module(False)
    job = module.globals.get("job")
    if job is not None:
        job.linkage = ""
    return module


class Proof:
    """The functions of a unit's items, and a look at each of its calls."""

    def __init__(self, unit: unit.Unit) -> None:
        self.unit = unit
        module = _module_with_turns(unit)
        for name in unit.names:
            module.globals[name].linkage = ""
        plain = module.plain if module.plain.functions else None
        self.code = Code(host().assemble(module, plain=plain))
        self.shared_job = max(unit.parts, default=1) > 1
        self.functions = []
        for name in unit.names:
            kind = module.globals[name].function_type
            checks = "i1" in str(kind.return_type)
            bounds = 0 if checks else 2
            pointers = len(kind.args) - bounds
            self.functions.append(
                (
                    ctypes.CFUNCTYPE(
                        ctypes.c_bool if checks else None,
                        *[ctypes.c_void_p] * pointers,
                        *[ctypes.c_int64] * bounds,
                    )(self.code.address(name)),
                    checks,
                )
            )
        self.shared_items = self.jobs = 0

    def __call__(self, *values: Any) -> None:
        native, memory = self.unit.native, Memory()
        outside = [*native.inputs, *native.outputs]
        for value, array in zip(outside, values, strict=True):
            self._lay(memory, value, np.ascontiguousarray(array))
        for value in self.unit.arrays:
            self._lay(memory, value, np.ascontiguousarray(native.constants[value]))
        for k, (function, checks) in enumerate(self.functions):
            for value in self.unit.roots[k]:
                if value not in memory:
                    self._make_room(memory, value)
            if checks:
                if not function(*self._pointers(memory, k, 0)):
                    return  # Python takes over
            elif self.unit.parts[k] > 1:
                self._prove(memory, k)
                self.shared_items += 1
            else:
                self._run(memory, k, [(0, self.unit.sharings[k].parts)], [0])
            assert memory.guards_are_whole(), f"{self._said(k)} writes beyond its arrays"
        if self.shared_job:
            expected = [memory.bytes(value).tobytes() for value in native.outputs]
            for count in THREADS:
                for turned in (False, True):
                    found = self._in_turns(values, count, turned)
                    assert found == expected, f"{count} threads that take turns differ"
            self.jobs += 1

    def _in_turns(self, values: Sequence[Any], count: int, turned: bool) -> list[bytes]:
        """The results of the job of a unit, with values where the unit has them."""
        native, unit = self.unit.native, self.unit
        inputs = [np.array(v, order="C", copy=True) for v in values[: len(native.inputs)]]
        outputs = [np.array(v, order="C", copy=True) for v in values[len(native.inputs) :]]
        updated = {r.value for plan in unit.sharings for r in plan.regions if r.updates}
        for value, array in zip(native.outputs, outputs, strict=True):
            if value not in updated:
                array.reshape(-1).view(np.uint8)[:] = POISONS[0]
        arena = np.full(unit.memory + 64, POISONS[0], np.uint8)
        constants = [np.ascontiguousarray(native.constants[v]) for v in unit.arrays]
        crew = np.zeros(1024, np.uint8)
        start = arena.ctypes.data + -arena.ctypes.data % 64
        places = [a.ctypes.data for a in (*constants, crew, crew)]
        table = np.array([start, *places], np.uint64)
        addresses = [a.ctypes.data for a in (*inputs, *outputs, table)]
        there = np.array(addresses, np.uint64)
        where = dict(zip([*native.inputs, *native.outputs], addresses, strict=False))
        where |= dict(zip(unit.arrays, places, strict=False))
        where |= {value: start + offset for value, offset in unit.offsets.items()}
        for k, (function, checks) in enumerate(self.functions):
            pairs = zip(unit.roots[k], unit.starts[k], strict=True)
            if checks:
                function(*[where[v] + at * v.dtype.itemsize for v, at in pairs])
        job = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
            self.code.address("job")
        )
        Turns(count, turned).run(lambda me: job(there.ctypes.data, me, count))
        return [array.tobytes() for array in outputs]

    def _lay(self, memory: Memory, value: Var, array: np.ndarray) -> None:
        memory.room(value, array.nbytes)
        memory.bytes(value)[:] = np.frombuffer(array.tobytes(), np.uint8)

    def _make_room(self, memory: Memory, value: Var) -> None:
        if value.number == SCRATCH:
            memory.room(value, max(THREADS) * value.shape[1])
        else:
            memory.room(value, -(-prod(value.shape) * value.dtype.itemsize // 64) * 64)

    def _pointers(self, memory: Memory, k: int, me: int) -> list[int]:
        return [
            memory.address(v)
            + (me * v.shape[1] if v.number == SCRATCH else start * v.dtype.itemsize)
            for v, start in zip(self.unit.roots[k], self.unit.starts[k], strict=True)
        ]

    def _run(
        self, memory: Memory, k: int, bounds: list[tuple[int, int]], order: Sequence[int]
    ) -> None:
        function, _ = self.functions[k]
        for me in order:
            function(*self._pointers(memory, k, me), *bounds[me])

    def _said(self, k: int) -> str:
        item = self.unit.native.items[k]
        steps = (
            [step.equation for step in item.steps] if hasattr(item, "steps") else [item.equation]
        )
        return "; ".join(map(str, steps))

    def _prove(self, memory: Memory, k: int) -> None:
        sharing, said = self.unit.sharings[k], self._said(k)
        parts = sharing.parts
        before = {v: memory.bytes(v).copy() for v in self.unit.roots[k]}
        whole = {region: places(region, sharing, 0, parts) for region in sharing.regions}
        written = {region.value for region in sharing.regions}

        def after(
            bounds: list[tuple[int, int]], order: Sequence[int], poison: int = POISONS[0]
        ) -> dict[Var, np.ndarray]:
            for value in written:
                memory.bytes(value)[:] = before[value]
            for region in sharing.regions:
                if not region.updates:
                    memory.numbers(region.value)[whole[region]] = poison
            self._run(memory, k, bounds, order)
            for value in before.keys() - written:
                same = np.array_equal(memory.bytes(value), before[value])
                assert same or value.number == SCRATCH, f"{said} changes its operand {value}"
            return {value: memory.numbers(value).copy() for value in written}

        alone = [(0, parts)]
        expected, again = after(alone, [0]), after(alone, [0], POISONS[1])
        for value in written:
            assert np.array_equal(expected[value], again[value]), f"{said}: {value} is not all set"
        for threads in THREADS:
            bounds = shares(parts, threads)
            for order in orders(threads):
                together = after(bounds, order)
                for value in written:
                    assert np.array_equal(expected[value], together[value]), (
                        f"{said}: {value} differs in parts {bounds} in the order {order}"
                    )
            for me, (first, last) in enumerate(bounds):
                for poison in POISONS:
                    for value, numbers in after(bounds, [me], poison).items():
                        own = np.zeros(len(numbers), bool)
                        was = before[value][: numbers.size].reshape(numbers.shape).copy()
                        for region in sharing.regions:
                            if region.value is value:
                                own[places(region, sharing, first, last)] = True
                                if not region.updates:
                                    was[whole[region]] = poison
                        changed = (numbers != was).any(axis=1)
                        assert not (changed & ~own).any(), (
                            f"{said}: parts {first} to {last} of {parts} write of {value} what is "
                            "not theirs"
                        )
        for value in written:
            memory.numbers(value)[:] = expected[value]


@contextmanager
def proving(monkeypatch: Any) -> Iterator[list[Proof]]:
    """Share all that can be shared, and prove each call of a native part before it runs."""
    proofs: list[Proof] = []
    plain = unit.Unit.instance

    def instance(self: unit.Unit) -> Any:
        call, proof = plain(self), Proof(self)
        proofs.append(proof)

        def proved(*values: Any) -> Any:
            proof(*values)
            return call(*values)

        return proved

    with monkeypatch.context() as patch, all_shared(), crew_of(1, most=max(THREADS)):
        patch.setattr(unit.Unit, "instance", instance)
        yield proofs
