"""The report as a page: one file that needs no network, and nothing of the user's runs in it."""

from __future__ import annotations

import base64
import hashlib
import textwrap
from typing import Any

from ..trace.finding import Finding
from ..trace.history import Line, Record
from ..trace.states import SOUND
from . import assets
from .cards import cards, lessons, sentence
from .listing import Listing, roles
from .markup import DASH, TIMES, Safe, escape, join, number, prose, tag
from .panels import shape
from .plots import spark
from .timeline import kept, left_out, timelines
from .words import plural, shown, summary

LONG = 240  # characters of an exception that are shown

ENDS = {
    "ok": "ran to its end", "exit": "ended by sys.exit", "interrupted": "was interrupted",
    "exception": "ended with an exception", "running": "still running",
    "stopped": "was stopped at a finding",
}  # fmt: skip

# What gets to the expressions behind the break.
BEHIND = {
    "none": "no gradient gets here", "zero": "only zeros get here", "nan": "NaN gets here",
    "inf": "infinity gets here", "vanishing": "next to nothing gets here",
    "exploding": "too large a gradient gets here", "wrong": "a wrong gradient gets here",
    "error": "no gradient gets here",
}  # fmt: skip


def page(report: Any, most: int | None = None, follow: bool = False) -> str:
    """The whole document; one that follows asks whoever served it for the state of the run."""
    script = assets.script()
    name = shown(report.script)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(script, follow)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{name}: gradtape doctor"),
        tag("style", Safe(assets.style())),
    )
    findings = report.findings[:most]
    body = tag(
        "body",
        _header(report, name),
        tag("main", _diagnosis(report, findings), _gradients(report, findings), _faults(report)),
        tag("p", id="run", role="status") if follow else None,
        tag("button", "?", id="help", type="button", title="Keys (?)", aria_label="Keys"),
        tag("div", id="panel", role="dialog", aria_label="numbers of the expression", hidden=True),
        tag("script", Safe(script)),
        data_follow=follow,
    )
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


# The page tells its height when it is drawn; where scripts do not run, the frame scrolls.
LISTENER = """\
((frame) => window.addEventListener("message", ({ source, data }) => {
  if (source === frame.contentWindow && data && data.gradtape === "height") {
    frame.style.height = Math.max(120, Math.min(Number(data.height) || 0, 20000)) + "px";
  }
}))(document.currentScript.previousElementSibling);"""


def framed(report: Any, most: int | None = None) -> str:
    """The page inside another one, as notebooks show it: neither can touch the other."""
    height = "40rem" if report.findings else "16rem"
    return tag(
        "iframe", "", srcdoc=page(report, most), sandbox="allow-scripts", title="gradtape doctor",
        style=f"width:100%;height:{height};border:0",
    ) + tag("script", Safe(LISTENER))  # fmt: skip


def _policy(script: str, follow: bool) -> str:
    """Nothing is loaded but, to follow a run, what its server has; only our own script runs."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return policy + "; connect-src 'self'" * follow


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
        tag("p", sentence(said), class_=f"verdict{healthy}"),
        tag("p", *[join([fact, " "]) for fact in facts], class_="facts"),
        *[tag("p", prose(sentence(note)), class_="remark") for note in report.notes],
    )


# --- findings and source --------------------------------------------------------------------------
def _diagnosis(report: Any, findings: list[Finding]) -> Safe | None:
    if not findings:
        return None
    listing = Listing(findings)
    source = listing.html()
    left = len(report.findings) - len(findings)
    more = tag("p", f"… and {plural(left, 'more finding')}", class_="rest") if left else None
    return tag(
        "section",
        tag("section", *cards(findings), more, class_="findings", aria_label="Findings"),
        tag("section", _key(findings), source, class_="source", aria_label="Source")
        if source
        else None,
        tag("div", *listing.panels, id="panels", hidden=True),
        *lessons(findings),
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


# --- all gradients --------------------------------------------------------------------------------
def _gradients(report: Any, findings: list[Finding]) -> Safe | None:
    records = list(report.history.records.values())
    if not records:
        return None
    more = left_out(records)
    return tag(
        "section",
        tag("h2", "Gradients asked for"),
        *timelines(report, findings),
        tag("p", more, class_="rest") if more else None,
        _table(records),
        class_="gradients",
    )


def _table(records: list[Record]) -> Safe:
    owner = {id(line): record for record in records for line in record.lines}
    lines = [line for record in records for line in record.lines]
    chosen = kept(lines)
    long = any(len(line.norms.numbers) > 2 for line in chosen)
    names = ["Gradient", "State", "Norm", "Shape", "Where"] + ["Over the steps"] * long
    head = tag("thead", tag("tr", *[tag("th", name, scope="col") for name in names]))
    body = tag("tbody", *[_row(owner[id(line)], line, long) for line in chosen])
    left = len(lines) - len(chosen)
    more = tag("p", f"… and {plural(left, 'more gradient')}", class_="rest") if left else None
    return tag("div", tag("table", head, body), more, class_="table", tabindex=0, role="group",
               aria_label="All gradients")  # fmt: skip


def _row(record: Record, line: Line, long: bool) -> Safe:
    norms = line.norms.numbers
    cells = [
        tag("td", tag("code", "d ", record.target, " / d ", tag("b", line.name))),
        tag(
            "td",
            *[_badge(state, times, line) for state, times in line.states.items()],
            tag("p", prose(line.reason), class_="reason") if line.reason else None,
        ),
        tag("td", number(norms[-1]) if norms else DASH, class_="figure"),
        tag("td", f"{shape(line.shape)} {line.dtype}" if line.dtype else DASH, class_="soft"),
        tag("td", f"{shown(record.place.file)}:{record.place.line}", class_="soft"),
    ]
    if long:
        cells.append(tag("td", spark(norms)))
    return tag("tr", *cells)


def _badge(state: str, times: int, line: Line) -> Safe:
    words = state if len(line.states) == 1 else f"{state} {TIMES}{times:,}"
    return tag("span", words, class_=f"badge {'ok' if state in SOUND else 'sick'}")


def _faults(report: Any) -> Safe | None:
    if not report.faults:
        return None
    items = [tag("li", escape(fault)) for fault in report.faults]
    return tag(
        "section", tag("h2", "Faults of the doctor's own, please report them"), tag("ul", *items),
        class_="faults",
    )  # fmt: skip
