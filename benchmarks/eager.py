"""Times gradtape beside TensorFlow, PyTorch, autograd and hand-written NumPy, all eager, one run.

One process per library loads it once and then works on request, one at a time, in turn: a slow
minute of the machine hits every library alike. See README.md beside this file.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import peers
from peers import Library, duration, table
from workloads import Step


def of(builder):
    """Build the step by this function of a workload file, which needs no module, if it has it."""
    return lambda module, workload: getattr(workload, builder, lambda: None)()


LIBRARIES = {
    "gradtape": Library("gradtape", "gradtape", lambda tf, workload: workload.tape(tf)),
    "tensorflow": Library("TensorFlow", "tensorflow", lambda tf, workload: workload.tape(tf)),
    "torch": Library("PyTorch", "torch", of("torch")),
    "autograd": Library("autograd", "autograd", of("autograd")),
    "numpy": Library("NumPy by hand", "numpy", of("numpy")),
}
IMPORT = "import"
COMPILED = "mlp-big"  # of function.py: among its 1.5 million ReLUs some are 0 within rounding
TOLERANCE = 1e-3  # relative, on float32 gradients


class Worker(peers.Worker):
    def look(self):
        first = peers.fingerprint(self.gradients())
        self.step()
        return first + peers.fingerprint(self.gradients())

    def gradients(self):
        results = self.step()
        if isinstance(self.step, Step) and self.step.params:
            _, gradients = results
            return self.step.layout(gradients)
        return results


def run_imports(running, rounds, notes):
    """Return the seconds that fresh interpreters take, in each round, without and with an import.

    The key is the library's name, or `pass <library>` for the bare start of its interpreter.
    """
    cases, bare = {}, {}
    for peer in running:
        if peer.python not in bare:
            bare[peer.python] = f"pass {peer.name}"
            cases[bare[peer.python]] = (peer.python, "pass")
        cases[peer.name] = (peer.python, f"import {peer.module}")
    times = {name: [] for name in cases}
    with tempfile.TemporaryDirectory() as cache:
        # Bytecode of its own, filled by the round before the first: whether an installed copy
        # happens to be compiled, or PYTHONDONTWRITEBYTECODE is set, decides a factor of five.
        environment = {**peers.QUIET, **os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for round_ in range(rounds + 1):
            for name, (python, code) in list(cases.items()):
                try:
                    found = [spawn(python, code, environment) for _ in range(3 if round_ else 1)]
                except subprocess.CalledProcessError as error:
                    last = error.stderr.decode().strip().splitlines()[-1:]
                    notes.append(f"import: {name} failed: {' '.join(last)}")
                    del cases[name], times[name]
                    continue
                if round_:
                    times[name].append(min(found))
    return times, {peer.name: bare[peer.python] for peer in running if peer.name in times}


def spawn(python, code, environment):
    begin = time.perf_counter()
    subprocess.run([python, "-c", code], env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin


# The report.


def steps_table(results, running):
    rows = []
    for workload, times in results.items():
        medians = {name: statistics.median(found) for name, found in times.items()}
        base = medians.get("gradtape")
        row = [workload]
        for peer in running:
            cell = "-"
            if peer.name in medians:
                cell = duration(medians[peer.name])
                if base and peer.name != "gradtape":
                    cell += f" (**{medians[peer.name] / base:.3g}x**)"
            row.append(cell)
        rows.append(row)
    return table(["one step", *(peer.title for peer in running)], rows)


def imports_table(times, bare_of):
    medians = {name: statistics.median(found) for name, found in times.items()}
    net = {name: medians[name] - medians[bare] for name, bare in bare_of.items()}
    rows = [["bare interpreter", duration(medians[next(iter(bare_of.values()))]), "-", "-"]]
    for name, seconds in net.items():
        ratio = f"{seconds / net['numpy']:.3g}x" if "numpy" in net else "-"
        row = [f"import {LIBRARIES[name].module}", duration(medians[name]), duration(seconds)]
        rows.append([*row, ratio])
    return table(["fresh process", "in all", "the import alone", "over import numpy"], rows)


def parse(arguments):
    known = [*(name for name in peers.workload_names() if name != COMPILED), IMPORT]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    peers.common_options(parser, LIBRARIES, known, "--peers")
    return peers.read_options(parser, LIBRARIES, known, arguments)


def main(arguments=None):
    options = parse(arguments)
    if options.worker:
        peers.work(Worker, LIBRARIES[options.worker])
        return
    notes, results, imports = [], {}, None
    running, absent = peers.start_peers(LIBRARIES, options.names, options.pythons)
    notes += [f"{LIBRARIES[name].title} skipped: {reason}" for name, reason in absent.items()]
    head = peers.head_line(running, f"median of {options.rounds} interleaved rounds")
    print(head, flush=True)
    for name in options.only:
        print(f"{name} ...", file=sys.stderr, flush=True)
        if name == IMPORT:
            imports = run_imports(running, options.rounds, notes)
        else:
            results[name], failed = peers.run_workload(name, running, options, TOLERANCE, notes)
            notes += [f"{name}: {peer} failed: {reason}" for peer, reason in failed.items()]
    for peer in running:
        peer.close()
    if results:
        print("\nTime per step; in bold, the library's time over gradtape's: above 1, gradtape is")
        print("the faster one.\n\n" + steps_table(results, running))
    if imports and imports[1]:
        print("\n" + imports_table(*imports))
    if notes:
        print("\n" + "\n".join(f"- {note}" for note in notes))
    if options.json:
        record = {"head": head, "notes": notes, "steps": results}
        record["imports"] = imports[0] if imports else {}
        with open(options.json, "w") as file:
            json.dump(record, file, indent=1)


if __name__ == "__main__":
    main()
