"""Times gradtape's `tf.data` beside TensorFlow's in one run: elements a second of some pipelines.

    python benchmarks/data.py            # both; TensorFlow is left out where it is not installed
    python benchmarks/data.py --rows 50000 --rounds 3

One process per library works on request, one at a time, in turn; the best of the rounds counts.
Both libraries must give the same elements: the sum over all batches is compared.
"""

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import time

LIBRARIES = ("gradtape", "tensorflow")
BAR = 1_000_000  # rows of 64 floats a second that "shuffle" is to reach
SAME = 1e-5


def pipelines(tf, np, rows):
    """Return the pipelines by name, each with the number of rows that it goes through."""
    data = tf.data.Dataset
    x = np.random.default_rng(0).standard_normal((rows, 64)).astype(np.float32)
    slices = data.from_tensor_slices((x, np.arange(rows)))
    few = max(rows // 20, 1)
    double = lambda x, y: (x * 2.0, y)
    return {
        "batch": (slices.batch(128), rows),
        "shuffle": (slices.shuffle(rows, seed=1).batch(128), rows),
        "shuffle, small buffer": (slices.shuffle(1000, seed=1).batch(128), rows),
        "shuffle, batches of 32": (slices.shuffle(10_000, seed=1).batch(32), rows),
        "shuffle, prefetch": (slices.shuffle(rows, seed=1).batch(128).prefetch(2), rows),
        "cached, shuffle": (slices.take(few).map(double).cache().shuffle(few).batch(128), few),
        "map rows": (slices.take(few).map(double).batch(128), few),
        "map batches": (slices.batch(128).map(double), rows),
        "filter": (slices.take(few).filter(lambda x, y: y % 2 == 0).batch(128), few),
        "windows": (data.range(few).window(8, 8).flat_map(lambda w: w.batch(8)), few),
        "generator": (
            data.from_generator(
                lambda: iter(x[:few]), output_signature=tf.TensorSpec([64], tf.float32)
            ).batch(128),
            few,
        ),
    }


def work(library, rows):
    """Answer requests for the time of a pipeline."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import numpy as np

    tf = importlib.import_module(library)
    found = pipelines(tf, np, rows)
    print(json.dumps(list(found)), flush=True)
    for line in sys.stdin:
        dataset, count = found[json.loads(line)]
        start, total = time.perf_counter(), 0.0
        for _ in dataset:
            pass
        took = time.perf_counter() - start
        for element in dataset:
            first = element[0] if isinstance(element, tuple) else element
            total += float(np.sum(np.asarray(first), dtype=np.float64))
        print(json.dumps([count / took, total]), flush=True)


class Worker:
    """A process of one library."""

    def __init__(self, library, rows):
        command = [sys.executable, __file__, "--work", library, "--rows", str(rows)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True,
        )  # fmt: skip
        self.names = json.loads(self.process.stdout.readline())

    def ask(self, name):
        print(json.dumps(name), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.rows)
        return 0
    installed = [name for name in LIBRARIES if importlib.util.find_spec(name)]
    workers = {name: Worker(name, options.rows) for name in installed}
    wrong = []
    print(f"{'rows a second':24}" + "".join(f"{name:>14}" for name in workers) + f"{'ratio':>8}")
    for name in workers["gradtape"].names:
        rates, totals = {}, {}
        for _ in range(options.rounds):
            for library, worker in workers.items():
                rate, totals[library] = worker.ask(name)
                rates[library] = max(rate, rates.get(library, 0.0))
        size = max(abs(total) for total in totals.values()) + 1.0
        if max(totals.values()) - min(totals.values()) > SAME * size:
            wrong.append(name)
        ratio = f"{rates['gradtape'] / rates['tensorflow']:8.2f}" if len(rates) > 1 else ""
        print(f"{name:24}" + "".join(f"{rate:14,.0f}" for rate in rates.values()) + ratio)
        if name == "shuffle" and rates["gradtape"] < BAR:
            print(f"  below the bar of {BAR:,}")
    for worker in workers.values():
        worker.end()
    if wrong:
        print(f"the libraries differ: {', '.join(wrong)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
