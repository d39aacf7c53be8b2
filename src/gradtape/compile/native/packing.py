"""Parts of a matrix copied to where a kernel reads them: row by row, transposed where needed."""

from __future__ import annotations

from dataclasses import dataclass

from .emitting import Emitter, Index, Value, integer


@dataclass(frozen=True)
class Block:
    """Numbers in memory: where they begin, and how far apart rows and columns are."""

    start: Value
    row: int
    column: int

    def at(self, e: Emitter, i: Index, j: Index) -> Value:
        return e.at(self.start, e.add(e.mul(i, self.row), e.mul(j, self.column)))

    def part(self, e: Emitter, i: Index, j: Index) -> Block:
        """What begins at a row and a column."""
        return Block(self.at(e, i, j), self.row, self.column)

    @property
    def turned(self) -> Block:
        """The same numbers, transposed."""
        return Block(self.start, self.column, self.row)


def copy(
    e: Emitter, source: Block, target: Block, rows: Index, columns: Index, fill: bool = False
) -> None:
    """`target[i, j] = source[i, j]`, where the target's columns lie one behind the other.

    With `fill` the last vector of a row is filled up with 0: of what is left over in memory some
    could be subnormal, which slows many processors down.
    """
    if fill and columns % e.lanes:
        last = columns - columns % e.lanes
        with e.each(0, rows) as i:
            part = e.constant(0.0, e.lanes)
            if source.column == 1:
                part = e.load_some(source.at(e, i, last), columns - last)
            e.store(part, target.at(e, i, last))
        columns = last if source.column == 1 else columns
    if source.column == 1:
        _copy_rows(e, source, target, rows, columns)
    elif source.row == 1:
        _copy_columns(e, source, target, rows, columns)
    else:
        _copy_each(e, source, target, (0, rows), (0, columns))


def _copy_rows(e: Emitter, source: Block, target: Block, rows: Index, columns: Index) -> None:
    across = _whole(e, columns)
    if some(0, columns):
        with e.each(0, rows) as i:
            if some(0, across):
                _copy_row(e, source, target, i, (0, across), e.lanes)
            if some(across, columns):
                _copy_row(e, source, target, i, (across, columns), 1)


def _copy_columns(e: Emitter, source: Block, target: Block, rows: Index, columns: Index) -> None:
    """Squares are transposed in registers: 0.4 cycles a number, one by one 2 to 4 (Zen 3)."""
    n = e.lanes
    down, across = _whole(e, rows), _whole(e, columns)
    if some(0, across) and some(0, down):
        with e.each(0, across, n) as j, e.each(0, down, n) as i:
            square = [e.load(source.at(e, i, e.add(j, c)), n) for c in range(n)]
            for r, vector in enumerate(transposed(e, square)):
                e.store(vector, target.at(e, e.add(i, r), j))
    _copy_each(e, source, target, (0, rows), (across, columns))
    _copy_each(e, source, target, (down, rows), (0, across))


def some(start: Index, stop: Index) -> bool:
    """Whether a range may have anything in it."""
    return not (isinstance(start, int) and isinstance(stop, int)) or start < stop


def _whole(e: Emitter, count: Index) -> Index:
    """So many that whole vectors hold them."""
    return count - count % e.lanes if isinstance(count, int) else e.b.and_(count, integer(-e.lanes))


def _copy_each(
    e: Emitter,
    source: Block,
    target: Block,
    rows: tuple[Index, Index],
    columns: tuple[Index, Index],
) -> None:
    if some(*rows) and some(*columns):
        with e.each(*rows) as i:
            _copy_row(e, source, target, i, columns, 1)


def _copy_row(
    e: Emitter, source: Block, target: Block, i: Index, columns: tuple[Index, Index], lanes: int
) -> None:
    """A few numbers or vectors are written out: a loop takes as long again (0.6 for 0.3 cycles)."""
    start, stop = columns
    short = isinstance(start, int) and isinstance(stop, int) and stop - start <= 8 * lanes
    parts = [(j, j + lanes) for j in range(start, stop, lanes)] if short else [columns]
    for first, past in parts:
        with e.each(first, past, lanes) as j:
            e.store(e.load(source.at(e, i, j), lanes), target.at(e, i, j))


def transposed(e: Emitter, rows: list[Value]) -> list[Value]:
    """As many vectors as each has lanes: ever smaller blocks change places."""
    n = distance = len(rows)
    while distance > 1:
        distance //= 2
        upper = [lane + n - distance if lane & distance else lane for lane in range(n)]
        lower = [lane + n if lane & distance else lane + distance for lane in range(n)]
        for i in range(n):
            if not i & distance:
                x, y = rows[i], rows[i + distance]
                rows[i], rows[i + distance] = e.shuffle(x, y, upper), e.shuffle(x, y, lower)
    return rows
