"""Norms over the steps, drawn as SVG inside the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ..trace.history import Line, Record
from .markup import MINUS, Safe, number, tag

WIDTH, HEIGHT = 460, 200
LEFT, TOP, RIGHT, BOTTOM = 52, 10, 10, 24  # margins
COLOURS = 8  # series with a colour of their own; the style sheet has as many
MARKS = 4  # steps that are marked, at most
POINTS = 240  # drawn of a series
LOGARITHMIC = 50  # largest over smallest, from which on powers of ten tell more


def plot(record: Record, since: Iterable[int] = ()) -> Safe | None:
    """The norms of a query's gradients over its steps; `since` are steps to be marked."""
    drawn = [line for line in record.lines if len(line.norms.numbers) > 1]
    if not drawn:
        return None
    finite = [x for line in drawn for x in line.norms.numbers if math.isfinite(x)]
    axis = _Axis(finite)
    last = max(line.norms.count for line in drawn)
    parts = [*_grid(axis, last), *[_since(step, last) for step in sorted(since)[:MARKS]]]
    for k, line in enumerate(drawn):
        parts += _series(line, axis, last, f"s{k}" if k < COLOURS else "rest")
    names = ", ".join(line.name for line in drawn[:COLOURS])
    return tag(
        "svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="plot", role="img",
        aria_label=f"gradient norms of {names} over {last} steps",
    )  # fmt: skip


def legend(record: Record) -> Safe:
    """The names of the series, in the colours of the plot."""
    drawn = [line for line in record.lines if len(line.norms.numbers) > 1]
    items = [
        tag("li", tag("span", class_=f"key s{k}"), tag("code", line.name))
        for k, line in enumerate(drawn[:COLOURS])
    ]
    if len(drawn) > COLOURS:
        more = f"{len(drawn) - COLOURS} more"
        items.append(tag("li", tag("span", class_="key rest"), more))
    return tag("ul", *items, class_="legend")


def spark(norms: Sequence[float], width: int = 96, height: int = 20) -> Safe | None:
    """A line without axes, for a table."""
    if len(norms) < 3:
        return None
    finite = [x for x in norms if math.isfinite(x)]
    axis = _Axis(finite)
    points = [(k, x) for k, x in enumerate(norms)]
    scale = (width - 4) / (len(norms) - 1)

    def place(point: tuple[int, float]) -> str:
        return f"{2 + point[0] * scale:.4g},{2 + (1 - axis.share(point[1])) * (height - 4):.4g}"

    lines = [
        tag("polyline", points=" ".join(map(place, run))) for run in _runs(_thin(points)) if run
    ]
    bad = [k for k, x in points if not math.isfinite(x)]
    ticks = [
        tag("path", d=f"M{2 + k * scale:.4g} 2 v{height - 4}", class_="bad")
        for k in bad[:: max(1, len(bad) // 40)]
    ]
    return tag(
        "svg", *lines, *ticks, viewBox=f"0 0 {width} {height}", class_="spark", role="img",
        aria_label=f"from {number(norms[0])} to {number(norms[-1])}",
    )  # fmt: skip


class _Axis:
    """From a norm to a share of the height, by powers of ten when they tell more."""

    def __init__(self, numbers: list[float]) -> None:
        positive = [x for x in numbers if x > 0]
        self.low, self.high = 0.0, max(numbers, default=1.0) or 1.0
        self.powers = bool(positive) and self.high / min(positive) > LOGARITHMIC
        if self.powers:
            self.low = math.floor(math.log10(min(positive)))
            self.high = max(math.ceil(math.log10(self.high)), self.low + 1)
        elif positive:
            self.high = _round_up(self.high)

    def share(self, x: float) -> float:
        if self.powers:
            x = math.log10(x) if x > 0 else self.low
        return min(max((x - self.low) / (self.high - self.low), 0.0), 1.0)

    def ticks(self) -> list[tuple[float, str]]:
        """Share of the height, and the words."""
        if not self.powers:
            return [(k / 2, number(self.high * k / 2)) for k in range(3)]
        step = max(1, math.ceil((self.high - self.low) / 4))
        powers = range(int(self.low), int(self.high) + 1, step)
        return [(self.share(10.0**p), f"1e{p}".replace("-", MINUS)) for p in powers]


def _round_up(x: float) -> float:
    """The next of 1, 2, 3, 4, 5, 6, 8 or 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(x))
    return next(n * power for n in (1, 2, 3, 4, 5, 6, 8, 10, 11) if n * power >= x * (1 - 1e-9))


def _grid(axis: _Axis, last: int) -> list[Safe]:
    parts = []
    for share, words in axis.ticks():
        y = _y(share)
        parts.append(tag("path", d=f"M{LEFT} {y:.4g} H{WIDTH - RIGHT}", class_="grid"))
        parts.append(tag("text", words, x=LEFT - 6, y=f"{y + 3.5:.4g}", text_anchor="end"))
    for step in sorted({1, (1 + last) // 2, last}):
        anchor = "end" if step == last else "middle"
        parts.append(
            tag("text", f"{step:,}", x=f"{_x(step, last):.4g}", y=HEIGHT - 7, text_anchor=anchor)
        )
    return parts


def _since(step: int, last: int) -> Safe | None:
    """A line where a fault began, unless that is where everything begins."""
    if not 1 < step <= last:
        return None
    x = _x(step, last)
    side = "end" if x > WIDTH / 2 else "start"
    words = tag(
        "text", f"step {step:,}", x=f"{x + (-5 if side == 'end' else 5):.4g}", y=TOP + 18,
        text_anchor=side,
    )  # fmt: skip
    line = tag("path", d=f"M{x:.4g} {TOP} V{HEIGHT - BOTTOM}")
    return tag("g", line, words, class_="since")


def _series(line: Line, axis: _Axis, last: int, colour: str) -> list[Safe]:
    every = line.norms.every
    points = [(1 + k * every, x) for k, x in enumerate(line.norms.numbers)]
    parts = []
    for run in _runs(_thin(points)):
        if len(run) == 1:
            x, y = _x(run[0][0], last), _y(axis.share(run[0][1]))
            parts.append(tag("circle", cx=f"{x:.4g}", cy=f"{y:.4g}", r=1.6, class_=f"dot {colour}"))
            continue
        where = " ".join(f"{_x(s, last):.4g},{_y(axis.share(x)):.4g}" for s, x in run)
        parts.append(tag("polyline", tag("title", line.name), points=where, class_=colour))
    bad = [step for step, x in points if not math.isfinite(x)]
    some = bad[:: max(1, len(bad) // 80)]
    ticks = [tag("path", d=f"M{_x(step, last):.4g} {TOP} v6", class_="bad") for step in some]
    return parts + ticks


def _runs(points: list[tuple[int, float]]) -> list[list[tuple[int, float]]]:
    """Pieces without a number that is not finite."""
    runs: list[list[tuple[int, float]]] = [[]]
    for point in points:
        if math.isfinite(point[1]):
            runs[-1].append(point)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _thin(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Fewer points, of each neighbourhood the lowest and the highest: spikes stay."""
    if len(points) <= POINTS:
        return points
    size = math.ceil(2 * len(points) / POINTS)
    kept: list[tuple[int, float]] = []
    for start in range(0, len(points), size):
        some = points[start : start + size]
        strange = [p for p in some if not math.isfinite(p[1])][:1]
        chosen = strange or [min(some, key=_height), max(some, key=_height)]
        kept += sorted(set(chosen))
    return kept


def _height(point: tuple[int, float]) -> float:
    return point[1]


def _x(step: float, last: int) -> float:
    return LEFT + (step - 1) / max(last - 1, 1) * (WIDTH - LEFT - RIGHT)


def _y(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)
