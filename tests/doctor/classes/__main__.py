"""Scores the doctor on the programs of the classes: `python -m tests.doctor.classes [class …]`."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter

from . import misjudged, programs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("classes", nargs="*", help="of which files; all if none is named")
    parser.add_argument("--engine", choices=("gradtape", "tensorflow"), default="gradtape")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.engine == "tensorflow":
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for program in programs(tuple(options.classes)):
        total[program.kind] += 1
        try:
            wrong = misjudged(program, options.engine)
        except AssertionError as error:  # the doctor's own fault, or something that is not so
            wrong = str(error)
        right[program.kind] += not wrong
        if wrong:
            print(f"{program.id}: {wrong}", flush=True)
    for kind, count in total.items():
        print(f"{kind}: {right[kind]} of {count}")
    print(f"all: {right.total()} of {total.total()} on {options.engine}")
    return int(right.total() < total.total())


if __name__ == "__main__":
    sys.exit(main())
