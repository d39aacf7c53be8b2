"""The documentation is whole: what is generated is current, links lead somewhere, nothing is left
out, and the site builds without a warning where mkdocs is installed."""

from __future__ import annotations

import importlib.util
import re
import time
import tomllib
from pathlib import Path

import pytest

import gradtape
from gradtape.cli import build_parser
from gradtape.doctor.rules import CATALOGUE
from tests.commands import python
from tests.doctor.browser import INSTALL, PATIENCE, Browser, find

from .blocks import FENCE, ROOT
from .reference import PAGES as REFERENCE
from .reference import commands_of
from .test_commands import PAGES, names

SOURCE = Path(gradtape.__file__).parent
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")


@pytest.mark.parametrize("name", REFERENCE)
def test_the_reference_is_current(name: str) -> None:
    written = (ROOT / name).read_text(encoding="utf-8")
    assert written == REFERENCE[name](), "python -m tests.documents writes it anew"


def test_all_options_are_explained() -> None:
    text = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    for name, command in commands_of(build_parser()):
        section = text.partition(f"## gradtape {name}\n")[2].partition("\n## ")[0]
        for option in re.findall(r"^  (--[\w-]+)", command.format_help(), re.M):
            assert f"`{option}" in section


def test_all_variables_of_the_environment_are_told() -> None:
    text = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    source = "".join(file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py"))
    read = set(re.findall(r"\bGRADTAPE_[A-Z]+\b", source))
    assert read
    assert {name for name in read if f"`{name}" not in text} == set()


def test_the_versions_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["llvm"], *extras["tensorflow"]]
    lowest = dict(re.match(r"([\w-]+)>=([\d.]+)", one).groups() for one in needed)  # type: ignore[union-attr]
    rows = (ROOT / "docs/versions.md").read_text(encoding="utf-8").splitlines()
    for name, word in {
        "numpy": "NumPy", "scipy": "SciPy", "keras": "Keras", "tensorflow-cpu": "TensorFlow",
        "llvmlite": "llvmlite",
    }.items():  # fmt: skip
        row = next(row for row in rows if row.startswith(f"| {word}"))
        assert f"| {lowest[name]} and newer" in row
    assert project["requires-python"].removeprefix(">=") in rows[4]


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if ":" not in target:
            file = page.parent / target if target else page
            assert file.exists(), target
            assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the site and Git hosts make them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8")).replace("\\", "")
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    plain = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in titles)
    return {re.sub(r"[-\s]+", "-", title) for title in plain}


def test_the_readme_begins_with_what_one_wants_to_know() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 180
    first = "\n".join(lines[:30])
    assert "images/lost-gradient.png" in first
    assert "pip install -q '.[all]'" in first
    assert "pip install -q '.[dev]'" in first


def test_every_cause_has_a_report(tmp_path: Path) -> None:
    process = python("-m", "tests.documents.gallery", tmp_path, cwd=ROOT)
    assert process.returncode == 0, process.stderr
    for rule in CATALOGUE:
        if rule.needs != "the real TensorFlow":
            told = (tmp_path / f"{rule.name}.txt").read_text(encoding="utf-8")
            assert re.search(rf"^{rule.code} {rule.name}\b", told, re.M), told
            assert "<html" in (tmp_path / f"{rule.name}.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, where mkdocs is installed."""
    if importlib.util.find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed: pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    process = python("-m", "mkdocs", "build", "--strict", "--site-dir", folder, cwd=ROOT)
    assert process.returncode == 0, process.stderr
    return folder


def test_the_site_builds_without_a_warning_and_fetches_nothing(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 2 * len(CATALOGUE)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert (
            re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="?(https?:[^" >]*)', text)
            == []
        )


def test_the_site_is_read_and_searched_from_the_disk(site: Path) -> None:
    program = find()
    if program is None:
        pytest.skip(INSTALL)
    with Browser(program) as browser:
        browser.open(site / "index.html")
        browser.run(
            "(() => { const field = document.querySelector('.md-search__input'); field.focus();"
            " field.value = 'tanh'; field.dispatchEvent(new Event('keyup', {bubbles: true})) })()"
        )
        count = "document.querySelectorAll('.md-search-result__item').length"
        until = time.monotonic() + PATIENCE
        while not browser.run(count) and time.monotonic() < until:
            time.sleep(0.02)
        assert browser.run(count)
        assert browser.errors == []
        assert [address for address in browser.asked if address.startswith("http")] == []
