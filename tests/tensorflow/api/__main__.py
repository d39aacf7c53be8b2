"""Write docs/api.md: python -m tests.tensorflow.api; with --record, ask TensorFlow first."""

from __future__ import annotations

import os
import sys

HINT = "TensorFlow is not installed here: pip install 'tensorflow-cpu>=2.21,<2.22', then try again."


def main(arguments: list[str]) -> int:
    if arguments == ["--record"]:
        return _record()
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    from tests.tensorflow.api.page import PAGE, page

    PAGE.write_text(page())
    print(f"{PAGE.name} is written")
    return 0


def _record() -> int:
    """Store TensorFlow's names; the page may be written where there is no TensorFlow."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import tensorflow as tf
    except ModuleNotFoundError:
        print(HINT, file=sys.stderr)
        return 1
    from tests.tensorflow.api.record import record, write, write_ops

    stored = record(tf)
    write(stored)
    write_ops(tf)
    print(f"{len(stored['names'])} names of TensorFlow {tf.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
