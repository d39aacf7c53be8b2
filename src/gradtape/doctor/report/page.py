"""The report as a page: one file that needs no network, and nothing of the user's runs in it."""

from __future__ import annotations

import base64
import hashlib
import re
import textwrap
from importlib.resources import files
from typing import Any

from ..source import sources
from ..trace.finding import Finding
from ..trace.history import Line, Record
from .listing import Listing, roles
from .markup import DASH, TIMES, Safe, escape, join, number, prose, tag
from .panels import shape
from .plots import legend, plot, spark
from .words import checked, headline, plural, shown, steps, summary, times_of

ROWS = 200  # of the table of gradients
PLOTS = 12
LONG = 240  # characters of an exception that are shown

ENDS = {
    "ok": "ran to its end", "exit": "ended by sys.exit", "interrupted": "was interrupted",
    "exception": "ended with an exception", "running": "still running",
    "stopped": "was stopped at a finding",
}  # fmt: skip

GRADUAL = ("vanishing", "exploding", "wrong")  # states that have no before and after
# What gets to the expressions behind the break.
BEHIND = {
    "none": "no gradient gets here", "zero": "only zeros get here", "nan": "NaN gets here",
    "inf": "infinity gets here", "vanishing": "next to nothing gets here",
    "exploding": "too large a gradient gets here", "wrong": "a wrong gradient gets here",
    "error": "no gradient gets here",
}  # fmt: skip


def page(report: Any, most: int | None = None) -> str:
    """The whole document."""
    script, style = _asset("page.js"), _asset("page.css")
    name = shown(report.script)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{name}: gradtape doctor"),
        tag("style", Safe(style)),
    )
    findings = report.findings[:most]
    body = tag(
        "body",
        _header(report, name),
        tag("main", _diagnosis(report, findings), _gradients(report), _faults(report)),
        tag("div", id="panel", role="dialog", aria_label="numbers of the expression", hidden=True),
        tag("script", Safe(script)),
    )
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def framed(report: Any) -> str:
    """The page inside another one, as notebooks show it: neither can touch the other."""
    height = "40rem" if report.findings else "16rem"
    return tag(
        "iframe", "", srcdoc=page(report), sandbox="allow-scripts", title="gradtape doctor",
        style=f"width:100%;height:{height};border:0",
    )  # fmt: skip


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    """Nothing is loaded, and only our own script runs."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


# --- the head of the page -------------------------------------------------------------------------
def _header(report: Any, name: str) -> Safe:
    said = summary(report)
    healthy = " healthy" if said.endswith("healthy") else ""
    end = ENDS.get(report.exit.kind, report.exit.kind)
    detail = f": {textwrap.shorten(report.exit.detail, LONG)}" if report.exit.detail else ""
    facts = [
        tag("span", name, class_="script", title=report.script),
        tag("span", f"on {report.engine}"),
        tag("span", end + detail, class_="" if report.exit.kind == "ok" else "bad"),
    ]
    return tag(
        "header",
        tag("h1", "gradtape ", tag("b", "doctor")),
        tag("p", _sentence(said), class_=f"verdict{healthy}"),
        tag("p", *[join([fact, " "]) for fact in facts], class_="facts"),
        *[tag("p", prose(_sentence(note)), class_="remark") for note in report.notes],
    )


# --- findings and source --------------------------------------------------------------------------
def _diagnosis(report: Any, findings: list[Finding]) -> Safe | None:
    if not findings:
        return None
    listing = Listing(findings)
    source = listing.html()
    cards = [_card(k, finding) for k, finding in enumerate(findings)]
    left = len(report.findings) - len(findings)
    more = tag("p", f"… and {plural(left, 'more finding')}", class_="rest") if left else None
    return tag(
        "section",
        tag("section", *cards, more, class_="findings", aria_label="Findings"),
        tag("section", _key(findings), source, class_="source", aria_label="Source")
        if source
        else None,
        tag("div", *listing.panels, id="panels", hidden=True),
        class_="diagnosis",
    )


def _key(findings: list[Finding]) -> Safe:
    """What the colours mean; the last of them, by finding."""
    said: dict[str, dict[int, str]] = {}
    for k, finding in enumerate(findings):
        if not all(spot.flows for spot in finding.spots):
            said.setdefault(BEHIND[finding.state], {})[k] = "on"
    items = [
        tag("span", "a sound gradient arrives", class_="flow"),
        tag("span", "the break", class_="break"),
        *[tag("span", words, class_="lost", **roles(of)) for words, of in said.items()],
    ]
    return tag("p", *items, class_="key-line")


def _card(k: int, finding: Finding) -> Safe:
    title = tag(
        "button",
        tag("span", finding.code, class_="code"),
        " ",
        tag("span", finding.name, class_="name"),
        " ",
        tag("span", prose(_sentence(headline(finding))), class_="headline"),
        type="button", aria_expanded="false" if k else "true", aria_controls=f"more{k}",
    )  # fmt: skip
    where = None
    if finding.place is not None:
        where = tag("p", f"{shown(finding.place.file)}:{finding.place.line}", class_="where")
    more = tag("div", _more(finding), id=f"more{k}", class_="more")
    return tag(
        "article", tag("h2", title), where, more,
        id=f"f{k}", class_=f"card {finding.state}", data_finding=k, data_for=f"{k}:on",
        data_now=None if k else "on",
    )  # fmt: skip


def _more(finding: Finding) -> Safe:
    sure = "" if finding.sure else "likely: "
    fields: list[tuple[str, Any]] = [
        ("Cause", prose(_sentence(sure + finding.message))),
        ("Fix", join([prose(_sentence(finding.fix)), _edit(finding)])),
        ("Checked", prose(checked(finding))),
        ("When", prose(steps(finding))),
        ("More", tag("code", f"gradtape explain {finding.code}")),
    ]
    rows = [tag("div", tag("dt", name), tag("dd", said)) for name, said in fields if said]
    return join([_path(finding), tag("dl", *rows)])


def _sentence(words: str) -> str:
    """With a capital letter, unless it begins with a name of the program's."""
    plain = re.match(r"[a-z]+[ ,:]", words)
    return words[:1].upper() + words[1:] if plain else words


def _path(finding: Finding) -> Safe | None:
    """The path in words, the break set apart; the middle of a long one is left out."""
    words = finding.path
    if not words:
        return None
    at = next((k for k, word in enumerate(words) if word.startswith("[")), len(words))
    kept = [
        k for k in range(len(words))
        if k < 4 or k >= len(words) - 4 or abs(k - at) <= 3 or len(words) <= 16
    ]  # fmt: skip
    items, before = [], -1
    for k in kept:
        if k > before + 1:
            items.append(tag("li", f"{k - before - 1} more", class_="left-out"))
        role = "lost" if k < at else "break" if k == at else "flow"
        if k != at and (at == len(words) or finding.state in GRADUAL):
            role = "plain"
        word = words[k][1:-1] if k == at else words[k]
        items.append(tag("li", tag("code", word), class_=role))
        before = k
    return tag("ol", *items, class_="path", aria_label="The path from the source to the target")


def _edit(finding: Finding) -> Safe | None:
    """The lines as they are and as they should be."""
    if finding.edit is None or finding.place is None:
        return None
    pairs = []
    for place, new in [(finding.place, finding.edit), *finding.further]:
        old = sources.line(place.file, place.line).strip()
        pairs += [tag("del", old), tag("ins", new.strip())]
    return tag("pre", *pairs, class_="edit")


# --- all gradients --------------------------------------------------------------------------------
def _gradients(report: Any) -> Safe | None:
    records = list(report.history.records.values())
    if not records:
        return None
    since = _since(report)
    plots = [_plot(record, since.get(record.place, set())) for record in records]
    drawn = [drawing for drawing in plots if drawing is not None][:PLOTS]
    return tag(
        "section",
        tag("h2", "Gradients asked for"),
        tag("div", *drawn, class_="plots") if drawn else None,
        _table(records),
        class_="gradients",
    )


def _since(report: Any) -> dict[Any, set[int]]:
    """The steps at which findings began, by the place that asked."""
    found: dict[Any, set[int]] = {}
    for finding in report.findings:
        if finding.query is not None and finding.steps:
            found.setdefault(finding.query.place, set()).add(finding.steps[0])
    return found


def _plot(record: Record, since: set[int]) -> Safe | None:
    drawing = plot(record, since)
    if drawing is None:
        return None
    title = prose(f"Norms of the gradients of `{record.target}` over {times_of(record)}")
    where = tag("span", f"line {record.place.line}", class_="where")
    return tag("figure", tag("figcaption", title, ", ", where), drawing, legend(record))


def _table(records: list[Record]) -> Safe:
    lines = [(record, line) for record in records for line in record.lines]
    kept = lines
    if len(lines) > ROWS:  # the sick ones rather than the first ones
        sick = [pair for pair in lines if set(pair[1].states) - {"ok"}][:ROWS]
        chosen = {id(line) for _, line in [*sick, *lines[: ROWS - len(sick)]]}
        kept = [pair for pair in lines if id(pair[1]) in chosen]
    long = any(len(line.norms.numbers) > 2 for _, line in kept)
    names = ["Gradient", "State", "Norm", "Shape", "Where"] + ["Over the steps"] * long
    head = tag("thead", tag("tr", *[tag("th", name, scope="col") for name in names]))
    body = tag("tbody", *[_row(record, line, long) for record, line in kept])
    left = len(lines) - len(kept)
    more = tag("p", f"… and {plural(left, 'more gradient')}", class_="rest") if left else None
    return tag("div", tag("table", head, body), more, class_="table", tabindex=0, role="group",
               aria_label="All gradients")  # fmt: skip


def _row(record: Record, line: Line, long: bool) -> Safe:
    norms = line.norms.numbers
    cells = [
        tag("td", tag("code", "d ", record.target, " / d ", tag("b", line.name))),
        tag("td", *[_badge(state, times, line) for state, times in line.states.items()]),
        tag("td", number(norms[-1]) if norms else DASH, class_="figure"),
        tag("td", f"{shape(line.shape)} {line.dtype}" if line.dtype else DASH, class_="soft"),
        tag("td", f"{shown(record.place.file)}:{record.place.line}", class_="soft"),
    ]
    if long:
        cells.append(tag("td", spark(norms)))
    return tag("tr", *cells)


def _badge(state: str, times: int, line: Line) -> Safe:
    words = state if len(line.states) == 1 else f"{state} {TIMES}{times:,}"
    return tag("span", words, class_=f"badge {'ok' if state == 'ok' else 'sick'}")


def _faults(report: Any) -> Safe | None:
    if not report.faults:
        return None
    items = [tag("li", escape(fault)) for fault in report.faults]
    return tag(
        "section", tag("h2", "Faults of the doctor's own, please report them"), tag("ul", *items),
        class_="faults",
    )  # fmt: skip
