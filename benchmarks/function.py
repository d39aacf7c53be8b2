"""Times gradtape's `@tf.function` beside the compilers of TensorFlow, PyTorch and JAX, one run.

One process per library and workload compiles the step once and then works on request, one at a
time, in turn. See README.md beside this file.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import textwrap
import time

import compiled
import peers
from peers import duration, table

LIBRARIES = {name: peers.Library(*fields) for name, fields in compiled.LIBRARIES.items()}
# What is to be reached: the time of the fastest peer over that of gradtape.
BARS = {
    "chain": 8.0,
    "mlp-small": 4.0,
    "hessian": 10.0,
    "embedding": 6.0,
    "mlp-large": 1.2,
    "pinn": 2.5,
    "mlp-big": 0.9,
    "lstm": 2.5,
    "transformer": 1.2,
    "cnn": 1.0,
    "black-scholes": 2.0,
}
MEAN_BAR = 2.5  # of the geometric mean of all
FIRST, FIRST_BAR, FIRST_RUNS = "first-call", 1.0, 2
WARM = 15  # calls before any is timed: gradtape's machine code takes over at the twelfth
# Of results, and of what three steps change in parameters, which rounding makes less certain.
TOLERANCE = 1e-2


class Worker(peers.Worker):
    def prepare(self, workload):
        found = super().prepare(workload)
        for _ in range(WARM if self.step is not None else 0):
            self.step()
        return found

    def look(self):
        """Return the fingerprints of the results, or of losses and of what training changes."""
        step = self.step
        if not step.params:
            step()
            step()
            return peers.fingerprint(step())
        before = peers.fingerprint(step.layout(step.params))
        losses = [self.loss() for _ in range(3)]
        after = peers.fingerprint(step.layout(step.params))
        return peers.fingerprint(losses) + list(map(change, before, after))

    def loss(self):
        found = self.step()
        return peers.as_numpy(found[0] if isinstance(found, tuple) else found)

    def memory(self):
        """Return the largest memory that this process has had, in bytes."""
        try:
            with open("/proc/self/status") as lines:
                return {"peak": next(int(x.split()[1]) for x in lines if "VmHWM" in x) * 1024}
        except (OSError, StopIteration):
            return {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def change(before, after):
    """Return the fingerprint of a difference, of whose norm the projections give an idea."""
    dtype, shape, values = after
    moved = [a - b for a, b in zip(values[1:], before[2][1:], strict=True)]
    return [dtype, shape, [sum(x * x for x in moved) ** 0.5, *moved]]


def run_workload(workload, options, environment, notes):
    """Return times of each round, peak memory and reasons of absence by library, and the head."""
    running, absent = peers.start_peers(LIBRARIES, options.names, options.pythons, environment)
    head = peers.head_line(running, f"best of {options.rounds} interleaved rounds")
    times, failed = peers.run_workload(workload, running, options, TOLERANCE, notes)
    peaks = {peer.name: peer.ask("memory")["peak"] for peer in running if peer.name in times}
    for peer in running:
        peer.close()
    return {"times": times, "peaks": peaks, "absent": {**absent, **failed}}, head


def run_first_calls(workload, options, environment):
    """Return the seconds from the start of a process, imports included, to its first result."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compiled.py")
    times, absent = {name: [] for name in options.names}, {}
    for round_ in range(FIRST_RUNS + 1):  # the first one fills the caches
        for name in list(times):
            time.sleep(peers.PAUSE)
            command = [options.pythons[name], script, name, workload]
            begin = time.perf_counter()
            with tempfile.TemporaryFile("w+") as log:
                process = subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=log, env=environment, text=True
                )
                answer = process.stdout.readline()
                seconds = time.perf_counter() - begin
                process.communicate()
                if not answer:
                    log.seek(0)
                    absent[name] = (log.read().strip().splitlines() or ["no message"])[-1]
                    del times[name]
                elif round_:
                    times[name].append(seconds)
    return {"times": times, "absent": absent}


# The report.


def cells(row, figures, absent, names, show):
    found = [row]
    for name in names:
        if name in figures:
            found.append(show(figures[name]))
        else:
            reason = textwrap.shorten(absent.get(name, "no such program"), 60, placeholder="...")
            found.append("absent: " + reason.replace("|", "/"))
    return found


def verdict(best, bar):
    """Return the ratio of the best peer's time to gradtape's, the bar, and whether it is met."""
    others = [seconds for name, seconds in best.items() if name != "gradtape"]
    if "gradtape" not in best or not others:
        return ["-", f"{bar:.3g}", "-"]
    ratio = min(others) / best["gradtape"]
    return [f"**{ratio:.3g}**", f"{bar:.3g}", "met" if ratio >= bar else "not met"]


def times_table(head, results, names):
    """`results` holds, by the row's name, what was found and the bar."""
    rows = []
    for row, (found, bar) in results.items():
        best = {name: min(times) for name, times in found["times"].items()}
        rows.append([*cells(row, best, found["absent"], names, duration), *verdict(best, bar)])
    titles = [LIBRARIES[name].title for name in names]
    return table([head, *titles, "best peer / gradtape", "bar", ""], rows)


def mean(results):
    """Return a line on the geometric mean of all ratios."""
    ratios = []
    for found in results.values():
        best = {name: min(times) for name, times in found["times"].items()}
        if "gradtape" in best and len(best) > 1:
            ours = best.pop("gradtape")
            ratios.append(min(best.values()) / ours)
    if not ratios:
        return ""
    reached = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return (
        f"\nGeometric mean of {len(ratios)}: **{reached:.3g}**, of all eleven {MEAN_BAR:.3g} asked."
    )


def memory_table(results, names):
    def megabytes(size):
        return f"{size / 2**20:.0f} MB"

    rows = [
        cells(workload, found["peaks"], found["absent"], names, megabytes)
        for workload, found in results.items()
    ]
    return table(["peak memory", *(LIBRARIES[name].title for name in names)], rows)


def parse(arguments):
    known = [*BARS, FIRST]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    peers.common_options(parser, LIBRARIES, known, "--libraries")
    return peers.read_options(parser, LIBRARIES, known, arguments)


def main(arguments=None):
    options = parse(arguments)
    if options.worker:
        peers.work(Worker, LIBRARIES[options.worker])
        return
    notes, results, first, head = [], {}, None, None
    with tempfile.TemporaryDirectory() as cache:
        # Caches of their own, of bytecode and of compilers: nobody finds an old run's.
        caches = {
            "PYTHONPYCACHEPREFIX": os.path.join(cache, "python"),
            "TORCHINDUCTOR_CACHE_DIR": os.path.join(cache, "torch"),
            "GRADTAPE_CACHE": os.path.join(cache, "gradtape"),
        }
        environment = {**peers.QUIET, **os.environ, **caches}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        # While steps are timed, no idle processes of torch.compile's beside them.
        alone = {**environment, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        for name in options.only:
            print(f"{name} ...", file=sys.stderr, flush=True)
            if name == FIRST:
                first = {
                    workload: run_first_calls(workload, options, environment) for workload in BARS
                }
                continue
            results[name], said = run_workload(name, options, alone, notes)
            if head is None:
                head = said
                print(head, flush=True)
    if results:
        print(
            "\nTime per step, and the time of the fastest peer over gradtape's: above 1, gradtape"
        )
        print("is the fastest.\n")
        barred = {name: (found, BARS[name]) for name, found in results.items()}
        print(times_table("one step", barred, options.names))
        print(mean(results))
        print("\n" + memory_table(results, options.names))
    if first:
        found = {workload: (times, FIRST_BAR) for workload, times in first.items()}
        print(
            "\nFrom the start of a process to its first result, imports and compilation included;"
        )
        print(f"best of {FIRST_RUNS}, with caches on disk filled.\n")
        print(times_table("first call", found, options.names))
    if notes:
        print("\n" + "\n".join(f"- {note}" for note in notes))
    if options.json:
        record = {"head": head, "notes": notes, "steps": results, "first-call": first}
        with open(options.json, "w") as file:
            json.dump(record, file, indent=1)


if __name__ == "__main__":
    main()
