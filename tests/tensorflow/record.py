"""Run the cases on the real TensorFlow and store its answers: python -m tests.tensorflow.record."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from tests.tensorflow import harness

HINT = "TensorFlow is not installed here: pip install 'tensorflow-cpu>=2.21,<2.22', then try again."


def main(families: list[str]) -> int:
    """Record the families named on the command line, or all of them."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import tensorflow as tf
    except ModuleNotFoundError:
        print(HINT, file=sys.stderr)
        return 1
    tf.get_logger().setLevel("ERROR")
    chosen = harness.load(*families)
    unknown = set(families) - {case.family for case in chosen}
    if unknown:
        print(f"no cases in: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 1
    answers: dict[str, dict[str, Any]] = {}
    silent = []
    for case in chosen:
        answer = harness.run(case, tf)
        answers.setdefault(case.family, {})[case.id] = answer
        if case.message is not None:
            # Compared with itself, an answer can only fail by lacking the words asked for.
            difference = harness.mismatch(answer, answer, message=case.message)
            if difference or '"raises"' not in json.dumps(answer):
                silent.append(f"{case.id}: {difference or 'nothing is raised'}")
    for family, stored in answers.items():
        harness.write(family, tf.__version__, stored)
        print(f"{family}: {len(stored)} answers")
    for line in silent:
        print(f"message not met: {line}", file=sys.stderr)
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
