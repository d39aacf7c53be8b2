"""The doctor against a folder of real bugs: `python -m tests.doctor.score DIR --engine gradtape`.

A case is a folder with `case.py` and `expect.json`. Of a bug, the first finding must name an
expected cause at an accepted line and say what to change; a control must have no finding; and the
program must print what it prints without the doctor. Exit code 1 if one case is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.commands import gradtape

HEALTHY = "none-healthy"
# Causes after which a gradient across the break can be told: the ops are known, only the tape did
# not follow them. Of a detour through NumPy it is told, or why it cannot be.
MENDABLE = {
    "not-watched", "watch-too-late", "nontrainable-variable", "auto-watch-off", "outside-tape",
    "stop-gradient", "variable-assign", "variable-rewrap", "constant-copy", "rounding-op",
    "python-scalar", "variable-rebound",
}  # fmt: skip


@dataclass
class Case:
    """A folder, and what is expected of it."""

    folder: Path
    expect: dict[str, Any]

    @property
    def control(self) -> bool:
        return self.expect["cause"] == HEALTHY

    @property
    def causes(self) -> list[str]:
        return [self.expect["cause"], *(self.expect.get("cause_also") or [])]

    @property
    def lines(self) -> list[int]:
        line = self.expect["line"]
        return line if isinstance(line, list) else [line]


@dataclass
class Verdict:
    """What came of a case."""

    case: Case
    wrong: list[str] = field(default_factory=list)
    found: str = ""
    report: str = ""

    @property
    def right(self) -> bool:
        return not self.wrong


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", choices=("gradtape", "tensorflow"), default="gradtape")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--verbose", action="store_true", help="show the reports of what failed")
    options = parser.parse_args(argv)
    cases = [case for case in load(options.folder) if options.only in case.folder.name]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda case: judge(case, options.engine), cases))
    show(verdicts, options.verbose)
    return 0 if all(verdict.right for verdict in verdicts) else 1


def load(folder: Path) -> list[Case]:
    files = sorted(folder.glob("*/expect.json"))
    return [Case(file.parent, json.loads(file.read_text())) for file in files]


# --- one case -------------------------------------------------------------------------------------
def judge(case: Case, engine: str) -> Verdict:
    """Run a case under the doctor and compare."""
    verdict = Verdict(case)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "report.json")
        words = ("doctor", "--engine", engine, "--format", "json", "--output", output, "case.py")
        process = gradtape(*words, cwd=case.folder, timeout=300)
        if not output.exists():
            verdict.wrong.append("no report")
            verdict.report = process.stderr
            return verdict
        report = json.loads(output.read_text())
    verdict.report = process.stderr + json.dumps(report["findings"], indent=2)
    verdict.wrong += [f"the doctor's own fault: {fault}" for fault in report["faults"]]
    _check_end(verdict, process)
    _check_findings(verdict, report["findings"])
    return verdict


def _check_end(verdict: Verdict, process: Any) -> None:
    """The program ends as it does without the doctor."""
    expect = verdict.case.expect
    if "error" in expect:
        if process.returncode != 1 or not re.search(expect["error"], process.stderr):
            verdict.wrong.append(f"no {expect['error']}")
        return
    results = re.findall(r"^RESULT: (.*)$", process.stdout, re.M)
    accepted = expect["result"] if isinstance(expect["result"], list) else [expect["result"]]
    if (
        process.returncode
        or len(results) != 1
        or not any(_accepts(a, json.loads(results[0])) for a in accepted)
    ):
        verdict.wrong.append(f"the program gave {results or process.stderr[-200:]}")


def _accepts(accepted: dict[str, Any], result: dict[str, Any]) -> bool:
    """Is each state the expected one, or one of those that are?"""
    return accepted.keys() == result.keys() and all(
        result[name] in (states if isinstance(states, list) else [states])
        for name, states in accepted.items()
    )


def _check_findings(verdict: Verdict, findings: list[dict[str, Any]]) -> None:
    case, wrong = verdict.case, verdict.wrong
    verdict.found = ", ".join(f"{f['cause']}:{(f['place'] or {}).get('line')}" for f in findings)
    if case.control:
        wrong += ["a false alarm"] if findings else []
        return
    if not findings:
        wrong.append("nothing found")
        return
    first = findings[0]
    if first["cause"] not in case.causes:
        wrong.append("another cause")
    if (first["place"] or {}).get("line") not in case.lines:
        wrong.append(f"not at line {' or '.join(map(str, case.lines))}")
    if not first["fix"]:
        wrong.append("no fix")
    told = first["would_be"] is not None
    excused = first["cause"] == "numpy-conversion" and first["why_not"]
    if not told and not excused and first["cause"] in {*MENDABLE, "numpy-conversion"}:
        wrong.append("no would-be gradient")


# --- the table ------------------------------------------------------------------------------------
def show(verdicts: list[Verdict], verbose: bool) -> None:
    width = max(len(v.case.folder.name) for v in verdicts)
    for verdict in verdicts:
        name = f"{verdict.case.folder.name:<{width}}"
        sign = "right" if verdict.right else "WRONG"
        wanted = "" if verdict.right else f"  ({'; '.join(verdict.wrong)}; {_wanted(verdict.case)})"
        print(f"{name}  {sign}  {verdict.found or 'no finding'}{wanted}")
        if verbose and not verdict.right:
            print(verdict.report)
    for title, control in (("bugs", False), ("controls", True)):
        of = [v for v in verdicts if v.case.control == control]
        print(f"{title}: {sum(v.right for v in of)} of {len(of)}")


def _wanted(case: Case) -> str:
    return "healthy" if case.control else f"{'/'.join(case.causes)} at {case.lines}"


if __name__ == "__main__":
    sys.exit(main())
