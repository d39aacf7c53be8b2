"""The same program has the same report, always: `python -m tests.doctor.steady [--runs 20]`.

Each run is a process with a hash seed of its own, in which objects lie at other addresses: it runs
all programs under the doctor, and every report (text, JSON, SARIF, page) must be that of the first
run, byte for byte. The programs are those of `steady.md`, in which several answers would do, and
the example of every rule. `--engine tensorflow` does it there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gradtape.doctor.report import Report
from gradtape.doctor.rules import CATALOGUE

from .programs import diagnose

HERE = Path(__file__).parent
PACKAGES = {"gradtape": "gradtape", "tensorflow": "tensorflow"}
WRITTEN = re.findall(
    r"^## (.*?)\n.*?^```python\n(.*?)^```$", (HERE / "steady.md").read_text(), re.M | re.S
)


def programs(engine: str, share: int = 1) -> dict[str, str]:
    """The programs by title: the written ones, and of the rules' examples one in `share`."""
    rules = [
        rule for rule in CATALOGUE if rule.needs != "the real TensorFlow" or engine == "tensorflow"
    ][::share]
    texts = {**dict(WRITTEN), **{rule.name: rule.failing for rule in rules}}
    head = f"import numpy as np\nimport {PACKAGES[engine]} as tf\n"
    return {title: head + text for title, text in texts.items()}


def reports(engine: str, share: int = 1) -> dict[str, str]:
    """The text of every program's report, and a digest of all that is made of it."""
    _seed(engine)
    found, noise = {}, []
    for title, text in programs(engine, share).items():
        noise.append(_scattered())
        session = diagnose(text, engine)
        report = Report("a program", engine, session.history, list(session.findings.values()))
        data = [report.to_json(), report.to_sarif(), report.to_html()]
        digest = hashlib.sha256(json.dumps(data).encode()).hexdigest()
        found[title] = f"{report.to_text()}\n{json.dumps(report.to_json())}\n{digest}"
    return found


def _seed(engine: str) -> None:
    """Programs that draw without a seed draw the same; `_scattered` does not."""
    import numpy as np

    random.seed(2)  # of which Keras draws the seeds of its initializers
    np.random.seed(2)
    if engine == "tensorflow":
        import tensorflow as tf
    else:
        import gradtape as tf
    tf.random.set_seed(2)


def _scattered() -> Any:
    """Objects of many sizes, of which half are given back: the next ones come to lie anywhere."""
    rng = random.Random(os.urandom(8))
    objects = [[None] * size for size in rng.choices(range(40), k=rng.randrange(4_000))]
    rng.shuffle(objects)
    del objects[::2]
    return objects


def differing(engine: str, runs: int, share: int = 1) -> dict[str, list[str]]:
    """The programs whose reports differ between processes, with their different reports."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(lambda k: _run(engine, share, k), range(1, runs + 1)))
    told = {title: list(dict.fromkeys(run[title] for run in made)) for title in made[0]}
    return {title: texts for title, texts in told.items() if len(texts) > 1}


def _run(engine: str, share: int, seed: int) -> dict[str, str]:
    code = f"from tests.doctor import steady; steady.write({engine!r}, {share})"
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=HERE.parents[1], env=environment, check=False,
        capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert not done.returncode, done.stderr
    result: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return result


def write(engine: str, share: int) -> None:
    print(json.dumps(reports(engine, share)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", choices=tuple(PACKAGES), default="gradtape")
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    found = differing(options.engine, options.runs)
    for title, texts in found.items():
        print(f"## {title}: {len(texts)} reports", *texts[:2], sep="\n")
    print(f"{len(programs(options.engine))} programs, {options.runs} runs: {len(found)} differ")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
