"""Kills a training that saves checkpoints (SIGKILL) at random moments, and has it go on.

    python -m tests.checkpoints.kill --times 200

Every start must find the last complete checkpoint, and the losses must be those of a run that
nobody killed. The shell's exit status is 0 if they are.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Steps of one life at most, so that 200 lives end; it takes a second to start.
STEPS_A_LIFE = 40


def start(folder: str, steps: int) -> subprocess.Popen[str]:
    """The training in a process of its own."""
    command = [sys.executable, "-m", "tests.checkpoints.training", folder, str(steps)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def losses(said: str) -> list[tuple[int, str]]:
    """Steps and losses of the lines that are complete."""
    lines = [line.split() for line in said.splitlines(keepends=True) if line.endswith("\n")]
    return [(int(step), loss) for step, loss in lines]


def kill(times: int, seed: int = 0) -> int:
    """Kill the training this often; the number of steps that the lives had in common."""
    chance = random.Random(seed)
    steps = STEPS_A_LIFE * times
    seen: dict[int, str] = {}
    again = 0
    with tempfile.TemporaryDirectory() as folder:
        for life in range(times + 1):
            before = max(seen, default=0)
            process = start(folder, before + STEPS_A_LIFE if life == times else steps)
            assert process.stdout is not None
            said = ""
            if life < times:
                said = process.stdout.readline()  # it has started
                time.sleep(chance.uniform(0, 0.25))
                process.kill()
            rest, _ = process.communicate()
            found = losses(said + rest)
            if life == times:
                assert process.returncode == 0, "the last life did not come to its end"
            assert found, "it did not go on"
            assert found[0][0] <= before + 1, f"steps are lost: {before}, then {found[0][0]}"
            assert before - found[0][0] < 2, f"older than the last: {before}, then {found[0][0]}"
            for step, loss in found:
                again += step in seen
                assert seen.setdefault(step, loss) == loss, f"step {step}: {loss}, not {seen[step]}"
        whole = Path(folder) / "whole"
        process = start(os.fspath(whole), max(seen))
        rest, _ = process.communicate()
        assert dict(losses(rest)) == seen, "not the losses of a run that nobody killed"
    return again


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    common = kill(asked.times, asked.seed)
    print(f"killed {asked.times} times: all losses are the same; {common} steps were done again")
