"""`gradtape explain`, and the pages of docs/rules that hold the same text."""

from __future__ import annotations

import pytest

from gradtape.cli import main
from gradtape.doctor.report.lessons import catalogue, find, page
from gradtape.doctor.report.searching import search
from gradtape.doctor.rules import CATALOGUE
from gradtape.doctor.rules.base import Rule
from tests.commands import gradtape

from .pages import COMMAND, FOLDER, pages


def test_the_pages_are_current() -> None:
    written = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")}
    assert written == pages(), f"{COMMAND} writes them anew"


@pytest.mark.parametrize("word", ["GT103", "gt103", "103", "left-the-tape", "left_the_tape"])
def test_a_rule_by_code_or_name(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", word]) == 0
    printed, told = capsys.readouterr()
    assert told == ""
    assert printed.startswith("# GT103 left-the-tape\n")
    for title in ("Why it happens", "A program with the fault", "The same without it"):
        assert f"## {title}" in printed


def test_a_rule_by_its_cause() -> None:
    assert [rule.code for rule in find("numpy-conversion")] == ["GT103"]


def test_the_catalogue_names_every_rule() -> None:
    process = gradtape("explain")
    assert process.returncode == 0
    assert all(f"`{r.code}` **{r.name}**: {r.title}" in process.stdout for r in CATALOGUE)


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("left-tape", "left-the-tape"),
        ("GT13-left-tape", "left-the-tape"),
        ("numpy-convert", "numpy-conversion"),
    ],
)
def test_a_word_that_is_none(word: str, near: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", word]) == 2
    printed, told = capsys.readouterr()
    assert printed == ""
    assert told.startswith(f"gradtape explain: no rule {word!r}; did you mean ")
    assert near in told


def test_a_word_like_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "%"]) == 2
    assert capsys.readouterr().err.endswith("; `gradtape explain` lists all there are\n")


@pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.name)
def test_a_lesson_is_whole(rule: Rule) -> None:
    for text in (rule.title, rule.lesson, rule.failing, rule.cured, rule.ignore):
        assert text.strip()
    assert not rule.title.endswith(".")
    assert rule.failing.strip() != rule.cured.strip()
    assert "\n\n\n" not in page(rule)
    compile(rule.failing, rule.name, "exec")
    compile(rule.cured, rule.name, "exec")


def test_names_are_links_in_the_pages() -> None:
    assert "[not-watched](not-watched.md)" in catalogue(links=".md")


# --- searching ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("nan", "GT301"), ("None", "GT101"), ("zero", "GT201"), ("numpy", "GT103"),
        ("inf", "GT301"), ("exploding", "GT401"), ("wrong", "GT501"), ("error", "GT601"),
        ("the learning rate is too large", "GT310"), ("mask", "GT308"), ("relu", "GT201"),
        ("loss is nan after log", "GT304"), ("model.predict", "GT110"), ("embedding", "GT604"),
        ("why is my argmax gradient none", "GT125"), ("stop gradient", "GT124"),
    ],
)  # fmt: skip
def test_rules_are_found_by_what_people_say(words: str, first: str) -> None:
    assert search(words)[0].rule.code == first


def test_a_symptom_finds_all_its_rules() -> None:
    found = {hit.rule.name for hit in search("None")}
    assert found == {rule.name for rule in CATALOGUE if "none" in rule.states}
    assert len(search("nan")) < len(CATALOGUE) / 2


def test_the_best_few_are_listed_or_a_clear_one_is_shown(capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["explain", "loss", "numpy"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("GT103  left-the-tape ")
    assert lines[-1].endswith("`gradtape explain GT103` shows the lesson of the first.")
    assert all(len(line) <= 60 for line in lines[:-1])
    assert main(["explain", "argmax"]) == 0
    assert capsys.readouterr().out.startswith("# GT125 discrete-index\n")
    assert main(["explain", "GT103", "dead-relu"]) == 0
    printed = capsys.readouterr().out
    assert "# GT103 left-the-tape\n" in printed
    assert "# GT201 dead-relu\n" in printed


def test_a_sentence_that_begins_with_code_stays_as_it_is() -> None:
    (rule,) = find("stop-gradient")
    assert "\ntf.stop_gradient is on every path" in page(rule)
