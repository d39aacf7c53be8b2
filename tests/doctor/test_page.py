"""The report as a page: it is one safe file that shows everything, and it works in a browser."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gradtape.doctor.report import Report
from gradtape.doctor.report.anchors import anchor
from gradtape.doctor.report.listing import _weave
from gradtape.doctor.report.markup import opening, prose, tag
from gradtape.doctor.source.place import Place

from .browser import Browser
from .programs import PREAMBLE, diagnose

# Two findings, one of them from step 4 on.
TRAINING = (
    PREAMBLE
    + """\
w, scale, t = tf.Variable([1.0, -2.0]), tf.Variable(3.0), tf.Variable(0.3)
x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def predict(x):
    hidden = tf.tanh(x * w)
    return tf.stop_gradient(hidden * scale) * tf.reduce_sum(w)


for part in (0.5, 0.6, 0.7, 0.0, 0.0, 0.0):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(predict(x))) + tf.sqrt(t * part)
    grads = tape.gradient(loss, [w, scale, t])
    w.assign_sub(0.001 * grads[0])
"""
)
HEALTHY = (
    PREAMBLE
    + """\
w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = w * w
grad = tape.gradient(loss, w)
"""
)
# Everything in it would like to be markup.
HOSTILE = (
    PREAMBLE
    + """\
a, b = "</script><script>alert(1)</script>", "'\\"><img src=x onerror=alert(2)>"
weights = {
    "</script><script>alert(1)</script>": tf.Variable(2.0),
    "'\\"><img src=x onerror=alert(2)>": tf.Variable([1.0, 2.0]),
}
title = "</style></textarea><!--"  # <b onclick="alert(3)">bold</b> & &amp; ]]> {{ `x` }}
with tf.GradientTape() as tape:
    loss = tf.stop_gradient(weights[a] * len("<i>${alert(4)}</i>")) + tf.reduce_sum(
        tf.round(  # <svg onload=alert(5)>
            weights["'\\"><img src=x onerror=alert(2)>"]
        )
    )
grads = tape.gradient(loss, weights)
raise ValueError("<script>alert(6)</script>")
"""
)


def report(text: str) -> Report:
    session = diagnose(text)
    return Report("train.py", "gradtape", session.history, list(session.findings.values()))


class Reader(HTMLParser):
    """The elements of a page and the text of each line of source."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[str] = []
        self.text = ""
        self._deep = 0
        self.feed(text)

    def handle_starttag(self, name: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attrs)))
        if dict(attrs).get("class") == "row":
            self.rows.append("")
            self._deep = 1
        elif self._deep:
            self._deep += 1

    def handle_endtag(self, name: str) -> None:
        self._deep -= bool(self._deep)

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._deep:
            self.rows[-1] += data

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for element, attrs in self.elements if element == name]


# --- without a browser ----------------------------------------------------------------------------
def test_every_finding_is_there() -> None:
    found = report(TRAINING)
    assert {f.code for f in found.findings} == {"GT124", "GT302"}
    page = Reader(found.to_html())
    cards = [a for a in page.named("article") if "card" in (a["class"] or "")]
    assert len(cards) == 2
    for finding in found.findings:
        assert finding.code in page.text
        assert finding.name in page.text
        assert finding.message.replace("`", "") in page.text
        assert f"gradtape explain {finding.code}" in page.text


def test_fewer_findings_on_request() -> None:
    page = Reader(report(TRAINING).to_html(most=1))
    assert len(page.named("article")) == 1
    assert "and 1 more finding" in page.text


def test_the_source_is_there_as_it_was_written() -> None:
    page = Reader(report(TRAINING).to_html())
    assert [re.sub(r"^\d+", "", row, count=1) for row in page.rows] == TRAINING.splitlines()


def test_the_path_is_drawn_through_the_source() -> None:
    page = report(TRAINING).to_html()
    roles = {}
    for found in re.finditer(r'<span class="spot"[^>]*data-for="([^"]*)"[^>]*>([^<]*)<', page):
        roles[html.unescape(found[2])] = dict(r.split(":") for r in found[1].split())
    assert roles["tf.sqrt"] == {"0": "break"}
    assert roles["tf.stop_gradient"] == {"1": "break"}
    assert roles["tf.square"] == {"1": "flow"}
    assert page.count('class="rail"') == 2


def test_everything_of_the_user_is_escaped() -> None:
    found = report(HOSTILE)
    assert len(found.findings) == 2
    text = found.to_html()
    page = Reader(text)
    assert [re.sub(r"^\d+", "", row, count=1) for row in page.rows] == HOSTILE.splitlines()
    assert text.count("<script") == text.count("</script") == 1
    assert not page.named("img")
    assert not page.named("i")
    for name, attrs in page.elements:
        assert not [key for key in attrs if key.startswith("on")], name


@pytest.mark.parametrize("program", [TRAINING, HEALTHY], ids=["training", "healthy"])
def test_it_is_one_file_that_asks_for_nothing(program: str) -> None:
    text = report(program).to_html()
    page = Reader(text)
    outside = {"src", "href", "action", "srcset", "data", "poster", "xlink:href"}
    assert not [key for _, attrs in page.elements for key in attrs if key in outside]
    assert "http:" not in text
    assert "https:" not in text
    assert "url(" not in text
    assert "@import" not in text


def test_only_its_own_script_may_run() -> None:
    text = report(TRAINING).to_html()
    script = re.search(r"<script>(.*?)</script>", text, re.S)
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    policy = next(a["content"] for a in Reader(text).named("meta") if "http-equiv" in a)
    assert f"script-src 'sha256-{digest}'" in (policy or "")
    assert "default-src 'none'" in (policy or "")


def test_a_healthy_run_is_told_in_one_line() -> None:
    page = Reader(report(HEALTHY).to_html())
    assert "1 gradient, all healthy" in page.text
    assert not page.named("article")
    assert not page.rows


def test_the_frame_of_a_notebook_holds_the_page() -> None:
    found = report(HOSTILE)
    (frame,) = Reader(found._repr_html_()).named("iframe")
    assert frame["srcdoc"] == found.to_html()
    assert frame["sandbox"] == "allow-scripts"


def test_of_a_long_file_only_the_neighbourhood_is_shown() -> None:
    lines = TRAINING.splitlines()
    text = "\n".join([*lines[:2], *["# filler"] * 3000, *lines[2:]])
    page = Reader(report(text).to_html())
    assert len(page.rows) < 150
    assert "lines" in page.text
    assert any("tf.stop_gradient" in row for row in page.rows)


def test_norms_over_the_steps_are_plotted() -> None:
    text = report(TRAINING).to_html()
    plots = [a for a in Reader(text).named("svg") if a.get("class") == "plot"]
    assert len(plots) == 1
    assert "over 6 steps" in (plots[0]["aria-label"] or "")
    assert "step 4" in text  # where the root met its zero


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("y = tf.reduce_mean(x)", "tf.reduce_mean"),
        ("y = x.numpy().astype(float).sum()", "sum"),
        ("y = (a + b) @ (c)", "@"),
        ("y = a ** b", "**"),
        ("y = -x", "-"),
        ("y = x[1:, 0]", "[1:, 0]"),
        ("y = a >= b", ">="),
        ("y += a", "+="),
        ("ä = ü * ö", "*"),
    ],
)
def test_an_expression_is_pointed_at_by_a_few_characters(line: str, wanted: str) -> None:
    import ast
    import linecache

    name = f"<anchor {line}>"
    linecache.cache[name] = len(line), None, [line], name
    node = ast.parse(line).body[0]
    value = node if isinstance(node, ast.AugAssign) else node.value  # type: ignore[attr-defined]
    place = Place(compile(line, name, "exec"), 0)
    size = len(line.encode()[: value.col_offset].decode())
    place.__dict__["span"] = (1, size, 1, len(line))
    number, start, end = anchor(place)
    assert (number, line[start:end]) == (1, wanted)


def test_markup_escapes_by_itself() -> None:
    assert tag("p", "<b>", title='"') == '<p title="&quot;">&lt;b&gt;</p>'
    assert prose("`<i>` & more") == "<code>&lt;i&gt;</code> &amp; more"


def test_elements_that_overlap_are_woven() -> None:
    a, b = opening("mark"), opening("span")
    assert _weave("abcd<", [(0, 3, 0, a), (2, 5, 1, b)]) == (
        "<mark>ab<span>c</span></mark><span>d&lt;</span>"
    )


# --- in a browser ---------------------------------------------------------------------------------
def opened(browser: Browser, folder: Path, text: str) -> Report:
    found = report(text)
    file = folder / "report.html"
    file.write_text(found.to_html(), encoding="utf-8")
    browser.open(file)
    return found


def broken_lines(browser: Browser) -> list[int]:
    """The numbers of the lines that are highlighted."""
    script = (
        "Array.from(document.querySelectorAll('.row[data-now=here] .number'), e => +e.textContent)"
    )
    return browser.run(script)


def test_clicking_a_finding_highlights_its_line(browser: Browser, tmp_path: Path) -> None:
    found = opened(browser, tmp_path, TRAINING)
    lines = [f.place.line for f in found.findings if f.place is not None]
    assert broken_lines(browser) == [lines[0]]
    browser.click("#f1 button")
    assert broken_lines(browser) == [lines[1]]
    assert browser.run(
        "(() => { const box = (s) => document.querySelector(s).getBoundingClientRect();"
        " const row = box('.row[data-now=here]'), code = box('.sheet');"
        " return row.top >= code.top && row.bottom <= code.bottom && row.bottom <= innerHeight })()"
    )
    assert (
        browser.run("document.querySelector('#f1 button').getAttribute('aria-expanded')") == "true"
    )
    assert (
        browser.run("document.querySelector('#f0 button').getAttribute('aria-expanded')") == "false"
    )
    assert browser.run("document.querySelector('.note.culprit[data-now] .words').innerText")
    assert browser.errors == []


def test_an_expression_tells_its_numbers(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, TRAINING)
    browser.click("#f1 button")
    shown = (
        "document.getElementById('panel').hidden ? '' : document.getElementById('panel').innerText"
    )
    assert browser.run(shown) == ""
    browser.hover(".spot[data-now=break]")
    said = browser.run(shown)
    assert "stop_gradient" in said
    assert "(3, 2) float32" in said
    assert "value" in said
    assert "gradient" in said
    browser.hover("h1")
    assert browser.run(shown) == ""
    browser.click(".spot[data-now=break]")
    browser.hover("h1")
    assert browser.run(shown) == said, "a click pins it"
    browser.press("Escape")
    assert browser.run(shown) == ""
    assert browser.errors == []


def test_the_keyboard_is_enough(browser: Browser, tmp_path: Path) -> None:
    found = opened(browser, tmp_path, TRAINING)
    browser.press("/")
    while browser.run("document.activeElement.closest('.card') === null"):
        browser.press("Tab")  # through the filter to the first finding
    browser.press("ArrowDown")
    assert broken_lines(browser) == [found.findings[1].place.line]  # type: ignore[union-attr]
    for _ in range(3):  # to the lesson, into the source, and to its first expression
        browser.press("Tab")
    assert browser.run("document.activeElement.className").split()[0] == "spot"
    assert not browser.run("document.getElementById('panel').hidden")
    assert browser.errors == []


def test_nothing_of_the_user_runs_or_is_loaded(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, HOSTILE)
    for selector in ("#f1 button", ".spot[data-now]", "#f0 button", ".spot[data-now]"):
        browser.click(selector)
    assert browser.run("document.querySelectorAll('img, script').length") == 1
    assert browser.errors == []
    assert len(browser.asked) == 1, browser.asked


def test_light_dark_narrow_and_printed(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, TRAINING)
    colours = set()
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        colours.add(browser.run("getComputedStyle(document.body).backgroundColor"))
    assert len(colours) == 2
    for width in (360, 800, 1600):
        browser.resize(width, 900)
        assert browser.run("document.documentElement.scrollWidth") <= width
    browser.resize(1280, 900)
    browser.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").stat().st_size > 10_000
    assert browser.errors == []


def test_a_gradient_that_is_cancelled_says_why() -> None:
    page = report(
        PREAMBLE
        + """\
x = tf.constant(np.random.RandomState(0).randn(8, 4).astype("float32"))
kernel, bias = tf.Variable(tf.ones([4, 3])), tf.Variable([0.1, 0.2, 0.3])
with tf.GradientTape() as tape:
    made = x @ kernel + bias
    mean, variance = tf.nn.moments(made, [0])
    normal = tf.nn.batch_normalization(made, mean, variance, None, None, 1e-3)
    loss = tf.reduce_mean((normal - 1.0) ** 2 * x[:, :3])
gradients = tape.gradient(loss, [kernel, bias])
"""
    ).to_html()
    assert re.findall(r'<span class="badge ok">(\w+)', page) == ["ok", "cancelled"]
    (reason,) = re.findall(r'<p class="reason">(.*?)</p>', page)
    assert "removed by <code>tf.nn.batch_normalization" in html.unescape(reason)
