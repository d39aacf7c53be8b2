"""`gradtape completion`: what shells offer, by asking them; and words that are nearly right."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from gradtape.api.completion import SHELLS
from gradtape.cli import build_parser, main
from gradtape.doctor.entry import settings
from gradtape.doctor.rules import CATALOGUE
from tests.commands import gradtape


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    return {shell: gradtape("completion", shell).stdout for shell in SHELLS}


def offered(script: str, *words: str, cwd=None) -> set[str]:
    """What bash offers for the last of some words."""
    if shutil.which("bash") is None:
        pytest.skip("without bash")
    ask = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gradtape; printf "%s\\n" "${COMPREPLY[@]}"'
    command = ["bash", "--norc", "-c", f"{script}\n{ask}", "bash", "gradtape", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=cwd)
    assert done.stderr == ""
    return set(done.stdout.split("\n")) - {""}


@pytest.mark.parametrize(
    ("words", "some"),
    [
        ([""], {"run", "doctor", "explain", "completion", "--version"}),
        (["do"], {"doctor"}),
        (["doctor", "--fi"], {"--fix"}),
        (["doctor", "--strict", "--wr"], {"--write-baseline"}),
        (["doctor", "--engine", ""], {"auto", "gradtape", "tensorflow"}),
        (["doctor", "--ignore", "GT12"], {f"GT12{k}" for k in range(10)}),
        (["doctor", "--output", "r"], {"report.html"}),
        (["doctor", "--output", "x.html", "my"], {"my train.py"}),
        (["doctor", "train.py", "--"], set()),
        (["doctor", "train.py", "r"], {"report.html"}),
        (["explain", "left"], {"left-the-tape"}),
        (["completion", ""], {"bash", "zsh", "fish", "-h", "--help"}),
    ],
)
def test_what_bash_offers(words, some, scripts, tmp_path) -> None:
    for name in ("my train.py", "report.html"):
        (tmp_path / name).touch()
    found = offered(scripts["bash"], *words, cwd=tmp_path)
    assert found >= some
    assert found == some or not words[-1]
    assert "--visit" not in found


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_sound_and_have_every_option(shell: str, scripts: dict[str, str]) -> None:
    script = scripts[shell]
    commands = next(a for a in build_parser()._actions if a.dest == "==SUPPRESS==" and a.choices)
    for name, parser in commands.choices.items():
        assert name in script
        for option in parser._option_string_actions:
            assert (option.lstrip("-") in script) == (option != "--visit")
    assert all(rule.name in script for rule in CATALOGUE)
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("docter x.py", "there is no command 'docter'; did you mean doctor?"),
        ("zzz", "there is no command 'zzz'; there are run, doctor, explain, completion"),
        ("--versoin", "there is no option --versoin; did you mean --version?"),
        ("doctor --ouput r.html x.py", "there is no option --ouput; did you mean --output?"),
        ("doctor --ouput=r.html x.py", "there is no option --ouput; did you mean --output?"),
        ("doctor --strict --fixx x.py", "there is no option --fixx; did you mean --fix?"),
        ("explain --hepl", "there is no option --hepl; did you mean --help?"),
        ("doctor x.py --baseline b.json", "gradtape doctor --baseline b.json x.py"),
    ],
)
def test_what_may_be_meant(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words.split())
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert said in error
    assert "--visit" not in error


# --- the commands of examples/ci ------------------------------------------------------------------
EXAMPLES = Path(__file__).parents[1] / "examples" / "ci"
WRITTEN = [
    line.partition("gradtape ")[2].split()
    for file in sorted(EXAMPLES.iterdir())
    for line in file.read_text(encoding="utf-8").splitlines()
    if line.lstrip("- ").startswith(("run: gradtape ", "entry: gradtape ", "gradtape "))
]


def test_commands_of_the_examples_are_commands() -> None:
    assert len(WRITTEN) == 4
    for words in WRITTEN:
        assert build_parser().parse_args(words).target == "train.py"


def test_settings_of_the_examples_are_settings() -> None:
    assert settings.read(EXAMPLES).keys() == {"strict", "baseline", "ignore"}
