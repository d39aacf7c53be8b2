"""The page over the steps: what is kept of a long run, the heat map, and a run that is followed."""

from __future__ import annotations

import base64
import html
import json
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

from gradtape.doctor.report import Exit, Report
from gradtape.doctor.report.timeline import CODES, INFINITE, NAN, ZERO, pack
from gradtape.doctor.trace import states
from gradtape.doctor.trace.history import TURNS, Line, Series, coarse

from .browser import Browser
from .programs import PREAMBLE, diagnose
from .test_page import TRAINING, report

STEPS = """\
w, v = tf.Variable([1.0, -2.0]), tf.Variable(1.0)
for step in range(1, {steps} + 1):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w) + (tf.sqrt(v * 0.0) if step == 4 else v * v)
    tape.gradient(loss, [w, v])
"""


def program(steps: int) -> str:
    return PREAMBLE + STEPS.format(steps=steps)


def numbers(text: str) -> dict[str, Any]:
    """What the first timeline of a page carries."""
    found = re.search(r'<div class="numbers" hidden>(.*?)</div>', text, re.S)
    assert found is not None
    return json.loads(html.unescape(found[1]))


@cache
def long_run(lines: int, steps: int) -> Report:
    """A report of a run that is too long for a test: its history is written here."""
    found = report(program(5))
    (record,) = found.history.records.values()
    record.steps, record.lines, record.targets = steps, [], Series()
    drawn = np.random.default_rng(1)
    record.targets.extend(drawn.random(steps).tolist())
    for k in range(lines):
        line = Line(f"layers[{k}]", shape=(64, 64), dtype="float32")
        norms = 10 ** (k / 12 - 6 + drawn.standard_normal(steps))
        norms[steps // 2 + k] = math.nan
        line.norms.extend(norms.tolist())
        for step in np.flatnonzero(np.diff(norms < 1e-6 * 64, prepend=False)):
            line.turn(int(step) + 1, states.by_norm(norms[step], 4096))
        record.lines.append(line)
    return found


# --- what is kept ---------------------------------------------------------------------------------
def test_states_are_kept_where_they_change() -> None:
    (record,) = diagnose(program(6)).history.records.values()
    w, v = record.lines
    assert w.spells() == [(1, "ok")]
    assert v.spells() == [(1, "ok"), (4, "nan" if v.states.get("nan") else "inf"), (5, "ok")]


def test_of_many_changes_the_worst_states_stay() -> None:
    drawn = np.random.default_rng(3)
    found = drawn.choice(["ok", "vanishing", "zero", "nan"], 20_000, p=[0.6, 0.3, 0.09, 0.01])
    line = Line("w")
    for step, state in enumerate(found.tolist(), 1):
        if state != line.turned:
            line.turn(step, state)
        assert len(line.turns) <= TURNS
    spells = line.spells(100)
    assert len(spells) <= 100
    order = ["nan", "zero", "vanishing", "ok"]
    starts = [start for start, _ in spells]
    assert starts == sorted(set(starts))
    for step, state in enumerate(found.tolist(), 1):
        shown = spells[np.searchsorted(starts, step, "right") - 1][1]
        assert order.index(shown) <= order.index(state), step


def test_one_bad_step_among_many_is_not_lost() -> None:
    spells = [(1, "ok"), (50_001, "nan"), (50_002, "ok")]
    spells += [(k, "zero" if k % 2 else "ok") for k in range(60_000, 60_100)]
    assert "nan" in [state for _, state in coarse(spells, 8)]


def test_norms_are_packed_in_sixteen_bits() -> None:
    norms = [1e-300, 3.0, 0.0, math.inf, math.nan, 1e300]
    low, high, codes = pack(norms)
    assert codes.tolist()[2:5] == [ZERO, INFINITE, NAN]
    back = 10 ** (low + (high - low) * codes[[0, 1, 5]].astype(float) / CODES)
    np.testing.assert_allclose(back, [1e-300, 3.0, 1e300], rtol=2e-2)
    low, high, codes = pack([0.001, 0.1234, 10.0])
    np.testing.assert_allclose(10 ** (low + (high - low) * codes[1] / CODES), 0.1234, rtol=1e-3)
    assert pack([2.0, 2.0])[2].tolist() == [0, 0]


def test_the_page_carries_the_numbers_of_every_step() -> None:
    text = report(program(6)).to_html()
    told = numbers(text)
    assert (told["target"], told["steps"]) == ("loss", 6)
    assert [line["name"] for line in told["lines"]] == ["w", "v"]
    loss = np.frombuffer(base64.b64decode(told["loss"]["numbers"]), "<f8")
    np.testing.assert_allclose(loss, [6, 6, 6, 5, 6, 6])
    (found,) = told["findings"]
    assert found["steps"] == [[4, 4]]
    assert found["lines"] == [1]


def test_a_long_run_stays_small() -> None:
    text = long_run(40, 100_000).to_html()
    assert len(text) < 3_000_000
    told = numbers(text)
    assert all(len(line["turns"]) <= 2 * TURNS for line in told["lines"])


def test_a_step_that_is_lost_to_thinning_keeps_its_state() -> None:
    told = numbers(long_run(3, 100_000).to_html())
    assert told["lines"][0]["every"] > 1
    assert told["lines"][0]["count"] == 100_000


def test_in_and_out_of_the_op_where_it_begins() -> None:
    (finding,) = diagnose(
        PREAMBLE
        + """\
w = tf.Variable([100.0, 0.0, 1.0])
with tf.GradientTape() as tape:
    e = tf.exp(w)
    loss = tf.reduce_sum(e / tf.reduce_sum(e) * [0.0, 1.0, 0.0])
tape.gradient(loss, w)
"""
    ).findings.values()
    onset = finding.onset
    assert onset is not None
    assert (onset.place.text, onset.backward) == ("tf.exp(w)", False)
    parts = {part.role: part for part in onset.parts}
    assert set(parts) == {"operand", "result", "arrives", "leaves"}
    assert (parts["operand"].name, parts["operand"].stats.high) == ("w", 100.0)  # type: ignore[union-attr]
    assert parts["operand"].stats.zeros == 1  # type: ignore[union-attr]
    assert parts["result"].stats.broken == 1  # type: ignore[union-attr]
    assert parts["leaves"].stats.broken > 0  # type: ignore[union-attr]


# --- in a browser ---------------------------------------------------------------------------------
READOUT = "document.querySelector('.readout').innerText"
HEAT = ".plot-box:has(.heat)"


def opened(browser: Browser, folder: Path, found: Report) -> None:
    file = folder / "report.html"
    file.write_text(found.to_html(), encoding="utf-8")
    browser.open(file)
    assert browser.errors == []


def pixel(browser: Browser, across: float, row: int, rows: int) -> list[int]:
    """The colour of a cell of the heat map."""
    return browser.run(
        f"(() => {{ const c = document.querySelector('.heat'), x = c.width * {across};"
        f" const y = c.height * {row / rows} + 1;"
        " return Array.from(c.getContext('2d').getImageData(x, y, 1, 1).data) })()"
    )


def test_the_heat_map_shows_states_and_norms(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, report(program(6)))
    size = "[document.querySelector('.heat').width, document.querySelector('.heat').height]"
    assert min(browser.run(size)) > 0
    sound, broken = pixel(browser, 0.1, 1, 2), pixel(browser, 3.4 / 6, 1, 2)
    assert broken != sound
    assert broken != pixel(browser, 3.4 / 6, 0, 2)
    assert "NaN" in browser.run("document.querySelector('.heat-key').innerText") or (
        "infinite" in browser.run("document.querySelector('.heat-key').innerText")
    )


def test_pointing_at_a_step_tells_its_numbers(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, report(program(6)))
    browser.hover(HEAT, 0.05, 0.2)
    browser.until(f"{READOUT}.includes('step 1')")
    said = browser.run(READOUT)
    assert "loss 6" in said
    assert "d loss/d w" in said
    assert "norm 4.472" in said
    assert browser.run("document.querySelector('main').hasAttribute('data-sound')")
    assert "not in step 1" in browser.run("document.querySelector('.card').innerText")
    browser.hover(HEAT, 3.5 / 6, 0.8)
    browser.until(f"{READOUT}.includes('step 4')")
    assert "d loss/d v" in browser.run(READOUT)
    assert not browser.run("document.querySelector('main').hasAttribute('data-sound')")
    browser.hover("h1")
    browser.until(f"!{READOUT}.includes('step 4')")
    assert browser.errors == []


def test_a_click_holds_the_step_and_a_drag_zooms(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, report(program(60)))
    browser.click(HEAT)
    browser.hover("h1")
    assert "step 31" in browser.run(READOUT)
    browser.press("Escape")
    assert "step 31" not in browser.run(READOUT)
    browser.drag(HEAT, 0.25, 0.5)
    browser.until("!document.querySelector(\".tools button[title^='Show all']\").hidden")
    browser.press("Escape")
    assert "steps 16 to 30 of 60 steps" in browser.run(READOUT)
    browser.click(".tools button[title^='Show all']")
    assert "steps 16" not in browser.run(READOUT)
    assert browser.errors == []


def test_the_heat_map_by_keys(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, report(program(6)))
    browser.run("document.querySelector('.heat').focus()")
    for key in ("ArrowRight", "ArrowRight"):
        browser.press(key)
    assert "step 3" in browser.run(READOUT)
    browser.press("ArrowDown")
    browser.press("n")
    assert "step 4" in browser.run(READOUT)
    assert "d loss/d v" in browser.run("document.querySelector('.heat').ariaValueText")
    browser.press("v")
    assert "v" not in browser.run("document.querySelector('.timeline .legend').innerText").split()
    browser.press("Escape")
    assert "Point at a step" in browser.run(READOUT)


def test_a_curve_is_shown_or_hidden_and_its_scale_is_chosen(
    browser: Browser, tmp_path: Path
) -> None:
    opened(browser, tmp_path, report(program(6)))
    legend = "document.querySelector('.timeline .legend').innerText"
    assert "w" in browser.run(legend).split()
    browser.click(".names button")
    assert "w" not in browser.run(legend).split()
    toggle = "document.querySelectorAll('.toggle')[1].textContent"
    before = browser.run(toggle)
    browser.run("document.querySelectorAll('.toggle')[1].click()")
    assert {before, browser.run(toggle)} == {"log", "linear"}
    assert browser.errors == []


def test_findings_are_filtered(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, report(TRAINING))
    cards = "Array.from(document.querySelectorAll('.card:not([hidden])'), (c) => c.dataset.rule)"
    assert len(browser.run(cards)) == 2
    browser.press("/")
    browser.write("stop-gradient")
    assert browser.run(cards) == ["GT124 stop-gradient"]
    assert "1 of 2 findings" in browser.run("document.querySelector('.count').textContent")
    assert browser.run("document.querySelector('.card[data-now]').dataset.rule").startswith("GT124")
    browser.click(".clear")
    assert len(browser.run(cards)) == 2
    browser.click(".chip[data-state=none]")
    assert browser.run(cards) == ["GT124 stop-gradient"]
    assert browser.errors == []


def test_the_lesson_of_a_rule_opens_and_closes(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, report(TRAINING))
    browser.click(".card[data-now] .teach")
    assert "The same without it" in browser.run("document.querySelector('dialog[open]').innerText")
    browser.press("Escape")
    browser.until("document.querySelector('dialog[open]') === null")
    assert browser.errors == []


def test_a_long_run_opens(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, long_run(40, 100_000))
    assert browser.run("document.querySelectorAll('.names button').length") == 40
    # The one step of NaN in the middle is wider than a pixel.
    assert pixel(browser, 0.5, 0, 40) != pixel(browser, 0.4, 0, 40)


class Server(ThreadingHTTPServer):
    """Serves a run that goes on, as the doctor's own does."""

    version, page = "1 running", ""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/token/"


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server: Any = self.server
        found = {"/token/": server.page, "/token/page": server.page}
        text = {**found, "/token/version": server.version}.get(self.path)
        self.send_response(404 if text is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((text or "").encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def served(page: str) -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Answers)
    server.page = page
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_run_is_followed(browser: Browser) -> None:
    early, late = report(program(6)), report(program(9))
    early.exit = Exit("running")
    one, other = (html.escape(next(iter(r.history.records)).file) for r in (early, late))
    rest = late.to_html(follow=True).replace(other, one)  # of the same program
    with served(early.to_html(follow=True)) as server:
        browser.open(server.address)
        badge = "document.getElementById('run').textContent"
        browser.until(f"{badge} === 'running, step 6'")
        assert "still running" in browser.run("document.querySelector('header').innerText")
        browser.click(HEAT)
        held = browser.run(READOUT)
        assert "step 4" in held
        browser.run("scrollTo(0, 200)")
        server.page, server.version = rest, "2 ended"
        browser.until(f"{badge} === 'ended'")
        assert "9 steps" in browser.run("document.querySelector('.timeline figcaption').innerText")
        assert browser.run(READOUT) == held
        assert browser.run("scrollY") == 200
        assert browser.errors == []
    assert {address.partition("token/")[2] for address in browser.asked} <= {"", "version", "page"}


def test_a_connection_that_is_lost_is_told(browser: Browser) -> None:
    with served(report(program(6)).to_html(follow=True)) as server:
        browser.open(server.address)
        browser.until("document.getElementById('run').textContent === 'running, step 6'")
    browser.until("document.getElementById('run').textContent === 'connection lost'")


def test_a_frame_is_as_high_as_its_page(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "notebook.html"
    found = report(TRAINING)
    file.write_text(f"<!doctype html><body>{found._repr_html_()}</body>", encoding="utf-8")
    browser.open(file)
    browser.until("document.querySelector('iframe').clientHeight > 700")
    assert browser.run("document.querySelector('iframe').sandbox.value") == "allow-scripts"
