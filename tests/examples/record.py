"""Run the programs in `examples/keras/` on the real TensorFlow, and keep what they print.

`python -m tests.examples.record [name …]`, where TensorFlow is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = HERE.parents[1] / "examples" / "keras"


def main(names: list[str]) -> None:
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    for name in names or sorted(path.stem for path in PROGRAMS.glob("*.py")):
        command = [sys.executable, str(PROGRAMS / f"{name}.py")]
        ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=quiet)
        (HERE / f"{name}.out").write_text(ran.stdout, encoding="utf-8")
        print(f"{name}: {len(ran.stdout.splitlines())} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
