"""The path in the margin of the source: a stop for every line on the way, and how they join."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from .markup import Safe, tag

ROW = 20  # height of a line, in units of the drawing; the style sheet knows it as 1.6 em
WIDTH = 50
RIGHT = WIDTH - 9  # where the stops stand
NEAREST, FARTHEST = 9.0, 34.0  # how far arcs swing out to the left of them


@dataclass
class Stop:
    """A line on the way from the source to the target."""

    line: int
    role: str  # "start" (of the gradient, where it is asked for), "flow", "break" or "lost"
    flows: bool  # a sound gradient comes to it from the stop after it
    apart: bool = False  # not on the path


def rail(k: int, stops: list[Stop], heights: dict[int, int]) -> Safe:
    """The drawing for one finding in one file."""
    merged = [stop for stop in _merged(stops) if stop.line in heights]
    joints = {
        (heights[after.line], heights[stop.line], stop.flows)
        for stop, after in pairwise(merged)
        if not stop.apart
    }
    swings = _swings({abs(start - end) for start, end, _ in joints})
    # What flows is drawn last, above the rest.
    lines = [_join(*joint, swings) for joint in sorted(joints, key=lambda j: (j[2], j))]
    best: dict[int, Stop] = {}
    for stop in merged:
        if stop.line not in best or _ORDER[stop.role] < _ORDER[best[stop.line].role]:
            best[stop.line] = stop
    dots = [_dot(heights[stop.line], stop.role) for stop in best.values()]
    height = heights[-1]
    return tag(
        "svg", *lines, *dots,
        class_="rail", viewBox=f"0 0 {WIDTH} {height * ROW}", aria_hidden="true",
        style=f"height:{height * 1.6:.4g}em", data_for=f"{k}:on", data_now=None if k else "on",
    )  # fmt: skip


_ORDER = {"break": 0, "flow": 1, "start": 2, "lost": 3}


def _merged(stops: list[Stop]) -> list[Stop]:
    """Neighbours on one line are one stop; the last of them tells what comes to it."""
    found: list[Stop] = []
    for stop in stops:
        if found and found[-1].line == stop.line and not found[-1].apart:
            roles = {found[-1].role, stop.role}
            role = min(roles, key=lambda r: _ORDER[r])
            found[-1] = Stop(stop.line, role, stop.flows)
        else:
            found.append(Stop(stop.line, stop.role, stop.flows, stop.apart))
    return found


def _swings(lengths: set[int]) -> dict[int, float]:
    """How far the arcs of each length swing out: longer ones farther, so that they stay apart."""
    long = sorted(length for length in lengths if length > 1)
    most = min(FARTHEST, NEAREST + 2 * max(long, default=0))
    step = (most - NEAREST) / max(len(long) - 1, 1)
    swings = {length: most - step * k for k, length in enumerate(reversed(long))}
    return {0: 0.0, 1: 0.0} | swings


def _join(start: int, end: int, flows: bool, swings: dict[int, float]) -> Safe:
    """From one row to another, in the direction of the gradient, with a head in the middle."""
    y, to = _middle(start), _middle(end)
    far = abs(end - start)
    # The middle of such a curve is three quarters of the way to its control points.
    left, half = RIGHT - swings[far] * 4 / 3, (y + to) / 2
    x = RIGHT - swings[far]
    tip = 3.5 if to > y else -3.5
    head = f"M{x - 3.5:g} {half - tip:g} L{x:g} {half + tip:g} L{x + 3.5:g} {half - tip:g}"
    line = tag("path", d=f"M{RIGHT} {y:g} C{left:g} {y:g} {left:g} {to:g} {RIGHT} {to:g}")
    parts = [line] if far <= 1 else [line, tag("path", d=head, class_="head")]
    return tag("g", *parts, class_="flow" if flows else "lost")


def _dot(row: int, role: str) -> Safe:
    y = _middle(row)
    if role == "break":
        cross = f"M{RIGHT - 2.6} {y - 2.6} l5.2 5.2 M{RIGHT + 2.6} {y - 2.6} l-5.2 5.2"
        circle = tag("circle", cx=RIGHT, cy=y, r=7)
        return tag("g", circle, tag("path", d=cross), class_="break")
    return tag("circle", cx=RIGHT, cy=y, r=5 if role == "flow" else 4, class_=role)


def _middle(row: int) -> float:
    return (row + 0.5) * ROW
