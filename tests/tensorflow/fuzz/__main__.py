"""Compare gradtape with TensorFlow on random programs: python -m tests.tensorflow.fuzz --help."""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import sys
import time

from tests.tensorflow.fuzz import known, played, store, worker
from tests.tensorflow.fuzz.campaign import DISTRIBUTIONS, Report, batch
from tests.tensorflow.fuzz.compare import FINE

BATCH = 25
OFTEN = 250  # programs between two words on how far it is


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    run, fine = batch, FINE
    if options.distribution == "large":
        from tests.tensorflow.fuzz import large  # which needs llvmlite

        run, fine = large.batch, large.FINE
    elif options.function:
        run, fine = played.batch, played.FINE
    else:
        worker.check(options.tensorflow)
    starts = range(options.start, options.start + options.programs, BATCH)
    stop = options.start + options.programs
    jobs = [(options, start, min(start + BATCH, stop)) for start in starts]
    counts: collections.Counter[str] = collections.Counter()
    groups: dict[tuple[str, str], list[Report]] = {}
    begun = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for kinds, reports, kept in pool.imap_unordered(run, jobs):
            counts.update(kinds)
            for report in reports:
                print(report, flush=True)
                if isinstance(report, Report):
                    groups.setdefault(report.group, []).append(report)
            for name, program, answer, version in kept:
                store.write(name, version, {name: (program, answer)})
            if counts.total() % OFTEN == 0:
                print(f"{counts.total()} of {options.programs} programs", file=sys.stderr)
    seconds = time.perf_counter() - begun
    print(f"{options.programs} programs in {seconds:.0f} s, seed {options.seed}")
    for kind, count in counts.most_common():
        documented = " (documented under: differs from TensorFlow)" if kind in known.NAMES else ""
        print(f"  {count:6} {kind}{documented}")
    if options.groups:
        with open(options.groups, "w") as file:
            file.write(grouped(groups))
    return 0 if set(counts) <= set(fine) else 1


def grouped(groups: dict[tuple[str, str], list[Report]]) -> str:
    """The groups of what differs, the largest first, each with its shortest program."""
    order = sorted(groups.items(), key=lambda one: (-len(one[1]), one[0]))
    heads = [f"{len(found):5} {name}: {kind}" for (name, kind), found in order]
    parts = []
    for head, (_, found) in zip(heads, order, strict=True):
        shortest = min(found, key=lambda report: len(str(report)))
        parts.append(f"## {head.strip()}\n{shortest}")
    return "\n".join([*heads, "", *parts])


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.tensorflow.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=200, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other programs")
    parser.add_argument("--start", type=int, default=0, help="number of the first program")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with a TensorFlow")
    parser.add_argument(
        "--tensorflow",
        metavar="PYTHON",
        default=sys.executable,
        help="a Python with TensorFlow",
    )
    parser.add_argument(
        "--distribution",
        choices=(*DISTRIBUTIONS, "large"),
        default="tame",
        help="tame: long programs that are meant to work; wild: any arguments of any function; "
        "bad: one wrong argument in each program; large: many numbers, eagerly, on NumPy and as "
        "machine code of several threads, without TensorFlow",
    )
    parser.add_argument(
        "--function",
        action="store_true",
        help="gradtape's tf.function beside gradtape, call after call; without TensorFlow",
    )
    parser.add_argument("--groups", metavar="FILE", help="write what differs, by function and kind")
    parser.add_argument("--store", action="store_true", help="keep what differs as regressions")
    parser.add_argument(
        "--documented", action="store_true", help="name the programs of documented differences too"
    )
    parser.add_argument("--whole", action="store_true", help="print what differs without shrinking")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
