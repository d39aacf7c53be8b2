"""What an expression held, in numbers: the panel that opens on it."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.spots import Spot, Stats
from ..source.place import Place
from .markup import DASH, Safe, number, tag
from .plots import spark

LONG = 72  # characters of an expression that are shown
SEVERAL = 3  # from so many times on, the first and the last stand for all
COLUMNS = ("min", "max", "mean", "norm", "zeros", "NaN, ∞")


def panel(name: str, place: Place, spots: Sequence[Spot], role: str) -> Safe:
    """The panel of one expression; an expression may be several ops, and run several times."""
    text = " ".join(place.text.split())
    text = text if len(text) <= LONG else text[: LONG - 1] + "…"
    ops: dict[str, list[Spot]] = {}
    for spot in sorted(spots, key=lambda spot: spot.time):
        ops.setdefault(spot.name, []).append(spot)
    scalars = all(_single(stats) for spot in spots for _, stats in _rows(spot))
    heads = [tag("th", column, scope="col") for column in COLUMNS]
    head = None if scalars else tag("thead", tag("tr", tag("td"), *heads))
    table = tag("table", head, *[_op(kind, same) for kind, same in ops.items()])
    source = next((spot.name for spot in spots if spot.time < 0), None)
    what = tag("p", tag("code", text), class_="what")
    return tag("div", what, table, id=name, class_=role, data_source=source)


def _op(kind: str, spots: list[Spot]) -> Safe:
    """The rows of one op; of one that ran many times, those of its first and last time."""
    first = spots[0]
    many = len(spots) >= SEVERAL
    times = tag("span", f" · {len(spots)} times", class_="type") if len(spots) > 1 else None
    made = tag("span", f" {shape(first.shape)} {first.dtype}", class_="type")
    title = tag("tr", tag("th", tag("b", kind), made, times, colspan=7, scope="rowgroup"))
    shown = [("first ", first), ("last ", spots[-1])] if many else [("", spot) for spot in spots]
    rows = [
        tag("tr", tag("th", when + name, scope="row"), *_cells(stats))
        for when, spot in shown
        for name, stats in _rows(spot)
    ]
    return tag("tbody", title, *rows, _over(spots) if many else None)


def _rows(spot: Spot) -> list[tuple[str, Stats | None]]:
    rows = [("value", spot.value), ("gradient", spot.gradient)]
    if spot.would_be is not None and spot.would_be != spot.gradient:
        rows.append(("would be", spot.would_be))
    return rows


def _over(spots: list[Spot]) -> Safe | None:
    """The norm of the gradient from the first time to the last, or of the one that would be."""
    words, norms = "norms", [spot.gradient.norm for spot in spots if spot.gradient is not None]
    if len(norms) < SEVERAL:
        words, norms = "would-be norms", [s.would_be.norm for s in spots if s.would_be is not None]
    drawing = spark(norms, 240, 28)
    if drawing is None:
        return None
    return tag("tr", tag("th", words, scope="row"), tag("td", drawing, colspan=6, class_="all"))


def _cells(stats: Stats | None) -> list[Safe]:
    if stats is None:
        return [tag("td", "none", colspan=6, class_="all none")]
    if _single(stats):
        broken = "not finite" if stats.broken else number(stats.mean)
        return [tag("td", broken, colspan=6, class_="all bad" if stats.broken else "all")]
    return list(figures(stats))


def figures(stats: Stats) -> tuple[Safe, ...]:
    """A cell for each of the columns."""
    sound, bad = stats.broken < stats.size, "bad" if stats.broken else None
    ends = [tag("td", number(x, 3) if sound else DASH) for x in (stats.low, stats.high, stats.mean)]
    return (
        *ends,
        tag("td", number(stats.norm, 3), class_=bad),
        tag("td", share(stats.zeros, stats.size)),
        tag("td", share(stats.broken, stats.size), class_=bad),
    )


def _single(stats: Stats | None) -> bool:
    return stats is None or stats.size == 1


def share(part: int, size: int) -> str:
    """0, all, or a part in percent that is never rounded to one of those."""
    if part in (0, size):
        return "all" if part else "0"
    return f"{min(max(100 * part / size, 0.1), 99.9):.3g} %"


def shape(sizes: tuple[int, ...]) -> str:
    """As the user's program prints it, but for the empty one."""
    return str(tuple(sizes)) if sizes else "scalar"
