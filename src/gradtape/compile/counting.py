"""Loops that count: a `tf.while_loop` over a counter that is compared with a constant.

How often it turns is known when it is recorded, so it is a loop along rows, and `TensorArray`s that
are read and written at the counter are these rows. Keras's recurrent layers are such loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import nest
from ..arrays.tensor_array import TensorArray
from ..core.apply import tensor
from ..framework import convert
from ..ops.compare import greater, greater_equal, less, less_equal
from ..ops.elementwise import add, sub
from .bodies import Body, Recorded, Scattered, Unfit, Written, record_body
from .loops import alike, check_kind, or_none, play_counted, truth
from .passes import dead
from .program import Program, Var
from .traced import Traced


def counted_loop(cond: Any, body: Any, loop_vars: Any, limit: int | None, least: int) -> Any:
    """A `tf.while_loop` whose condition compares a counter with a constant, as one equation; None
    if it is not one, or has not more turns than `least`. It may carry `TensorArray`s."""
    ends = or_none(lambda: _Counting(cond, body, loop_vars).run(limit, least))
    return None if ends is None else nest.pack_sequence_as(loop_vars, ends)


class _Counting:
    """One such loop: its body goes along the rows of arrays that it reads at the counter."""

    def __init__(self, cond: Any, body: Any, loop_vars: Any) -> None:
        self._cond, self._body, self._structure = cond, body, loop_vars
        self._flat = nest.flatten(loop_vars)
        self._leaves = {
            k: convert.to_tensor(leaf)
            for k, leaf in enumerate(self._flat)
            if not isinstance(leaf, TensorArray)
        }
        self._written: dict[int, Written] = {}

    def _packed(self, tensors: Any) -> Any:
        """The loop's variables in the body or the condition."""
        self._written = {
            k: Written(leaf) for k, leaf in enumerate(self._flat) if k not in self._leaves
        }
        both = dict(zip(self._leaves, tensors, strict=True)) | self._written
        return nest.pack_sequence_as(self._structure, [both[k] for k in sorted(both)])

    def _flat_cond(self, *tensors: Any) -> list:
        return truth(self._cond(*self._packed(tensors)))

    def _flat_body(self, *tensors: Any) -> list:
        result = nest.flatten(alike(self._body(*self._packed(tensors)), self._structure))
        if any(result[k] is not w for k, w in self._written.items()):
            raise Unfit
        new = [convert.to_tensor(result[k]) for k in self._leaves]
        check_kind(new, [*self._leaves.values()])
        return [*new, *[w.value for w in self._written.values() if w.place is not None]]

    def run(self, limit: int | None, least: int) -> list | None:
        """The loop's variables at its end, flat."""
        leaves = [*self._leaves.values()]
        examples = [t._value for t in leaves]
        cond = record_body(self._flat_cond, examples).body.program
        for counter, leaf in enumerate(leaves):
            if (
                leaf._value.dtype.kind not in "iu"
                or leaf._value.ndim
                or type(leaf._value) is Traced
            ):
                continue
            begin = int(leaf._value)
            count = turns(cond, cond.inputs[counter], begin)
            if count is not None:
                break
        else:
            return None
        count = count if limit is None else min(count, limit)
        if count <= least:
            return None
        while True:
            try:
                recorded = record_body(self._flat_body, examples)
                break
            except Scattered as scattered:
                scattered.array._gather_up()
        return self._play(recorded, leaves, counter, range(begin, begin + count))

    def _play(self, recorded: Recorded, leaves: list, counter: int, numbers: range) -> list:
        program = recorded.body.program
        inputs, outputs = program.inputs, program.outputs
        number, last = inputs[counter], len(leaves) + len(recorded.reads)
        if distance(program, outputs[counter], number) != 1:
            raise Unfit

        def rows_at(place: Var, count: int) -> slice:
            ahead = distance(program, place, number)
            if ahead is None or numbers.start + ahead < 0 or numbers.stop + ahead > count:
                raise Unfit
            return slice(numbers.start + ahead, numbers.stop + ahead)

        sequences = {}
        for row, (array, place) in zip(inputs[len(leaves) : last], recorded.reads, strict=True):
            where = rows_at(place, array._count)
            whole = where == slice(0, array._count)
            sequences[row] = array._whole if whole else array._whole[where]
        # Rows of what is written at the counter; of what is written at one place, the last value.
        rows, ends, wheres = list[Var](), dict[int, Var](), dict[int, slice]()
        values = iter(outputs[len(leaves) :])
        for k, array in self._written.items():
            if isinstance(array.place, int):
                if not 0 <= array.place < array._count:
                    raise Unfit
                ends[k] = next(values)
            elif array.place is not None:
                wheres[k] = rows_at(array.place.var, array._count)
                rows.append(next(values))
        others = [k for k in range(len(leaves)) if k != counter]
        unused = [program.new(v.shape, v.dtype) for v in ends.values()]
        carried = [inputs[k] for k in others] + unused
        new = [outputs[k] for k in others] + [*ends.values()]
        program = dead.remove(program.with_equations(program.equations, outputs=(*new, *rows)))
        if any(number in e.uses for e in program.equations) or number in program.outputs:
            sequences[number] = tensor(np.arange(numbers.start, numbers.stop, dtype=number.dtype))
        program.inputs = (*carried, *sequences, *inputs[last:])
        starts = [leaves[k] for k in others]
        starts += [tensor(np.zeros(v.shape, v.dtype)[()]) for v in ends.values()]
        body = Body(program, recorded.body.outside)
        played = play_counted(body, starts, [*sequences.values()], range(len(numbers)))
        finals, last_values = played[: len(others)], played[len(others) : len(starts)]
        results: dict[int, Any] = dict(
            zip([[*self._leaves][k] for k in others], finals, strict=True)
        )
        results[[*self._leaves][counter]] = tensor(number.dtype.type(numbers.stop))
        for k, array in self._written.items():
            results[k] = self._flat[k] if array.place is None else array
        for k, value in zip(ends, last_values, strict=True):
            results[k] = self._written[k].ended(value)
        for (k, where), stack in zip(wheres.items(), played[len(starts) :], strict=True):
            results[k] = self._written[k].filled(where, stack)
        return [results[k] for k in range(len(self._flat))]


# --- how often ------------------------------------------------------------------------------------
def distance(program: Program, value: Var, start: Var) -> int | None:
    """How much larger a whole number is than another of the program, where that is a constant."""
    sources = {v: e for e in program.equations for v in e.outputs}
    total = 0
    while value is not start:
        source = sources.get(value)
        if source is None or source.op not in (add, sub):
            return None
        first, second = source.inputs
        if second in program.constants and np.ndim(program.constants[second]) == 0:
            step = int(program.constants[second])
            total, value = total + (step if source.op is add else -step), first
        elif source.op is add and first in program.constants:
            total, value = total + int(program.constants[first]), second
        else:
            return None
    return total


_LESS = {less: 0, less_equal: 1}
_MORE = {greater: 0, greater_equal: 1}


def turns(cond: Program, counter: Var, begin: int) -> int | None:
    """How often a condition holds for begin, begin + 1, …: None if that is not known, as that
    number is not compared with a constant."""
    (result,) = cond.outputs
    if any(e.must_stay for e in cond.equations):
        return None
    last = next((e for e in cond.equations if result in e.outputs), None)
    if last is None or len(last.inputs) != 2:
        return None
    first, second = last.inputs
    if last.op in _MORE:  # n > i is i < n
        first, second, more = second, first, _MORE[last.op]
    elif last.op in _LESS:
        more = _LESS[last.op]
    else:
        return None
    bound, ahead = cond.constants.get(second), distance(cond, first, counter)
    if bound is None or ahead is None or bound.dtype.kind not in "iu" or bound.ndim:
        return None
    return max(0, int(bound) + more - ahead - begin)
