"""Times gradtape beside TensorFlow, PyTorch, autograd and hand-written NumPy, all eager, one run.

One process per library loads it once and then works on request, one at a time, in turn: a slow
minute of the machine hits every library alike. See README.md beside this file.
"""

import argparse
import importlib
import importlib.metadata
import json
import os
import pkgutil
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass

import workloads


@dataclass(frozen=True)
class Library:
    title: str
    module: str
    builder: str  # the function of a workload file that builds this library's step


LIBRARIES = {
    "gradtape": Library("gradtape", "gradtape", "tape"),
    "tensorflow": Library("TensorFlow", "tensorflow", "tape"),
    "torch": Library("PyTorch", "torch", "torch"),
    "autograd": Library("autograd", "autograd", "autograd"),
    "numpy": Library("NumPy by hand", "numpy", "numpy"),
}
IMPORT = "import"
TOLERANCE = 1e-3  # relative, on float32 gradients
PAUSE = 0.25  # OpenBLAS threads spin for 0.11 s after their last call; let them fall asleep
FOREIGN = 0.15  # of one core: more than that, used by other processes, disturbs a measurement
TRIES = 5  # how often a disturbed measurement is done again before it counts all the same


def workload_names():
    return [m.name.replace("_", "-") for m in pkgutil.iter_modules(workloads.__path__)]


def load_workload(name):
    return importlib.import_module("workloads." + name.replace("-", "_"))


def cores():
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# The worker: one library, one process.


def work(name):
    """Answer requests, one JSON object per line, until the input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a library prints must not end up among the answers
    worker = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if worker is None:
                worker = Worker(LIBRARIES[name])
            answer = getattr(worker, request.pop("do"))(**request)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            answer = {"error": reason, "traceback": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")


class Worker:
    def __init__(self, library):
        self.library = library
        self.module = importlib.import_module(library.module)
        if library.module == "torch":
            self.module.set_num_threads(cores())
        self.step = None

    def hello(self):
        name = self.library.module
        if name == "gradtape":  # its __version__ is that of the TensorFlow it answers for
            version = importlib.import_module("gradtape.version").__version__
        elif hasattr(self.module, "__version__"):
            version = self.module.__version__
        else:
            version = importlib.metadata.version(name)
        return {"version": version, "python": platform.python_version()}

    def prepare(self, workload):
        """Build the step and say what its first and its third run return."""
        self.step = None
        builder = getattr(load_workload(workload), self.library.builder, None)
        if builder is None:
            return {"absent": True}
        self.step = builder(self.module) if self.library.builder == "tape" else builder()
        first = fingerprint(self.step())
        self.step()
        return {"gradients": first + fingerprint(self.step())}

    def measure(self, seconds):
        return {"time": best_time(self.step, seconds)}


def best_time(step, seconds):
    """Return the shortest time per step among samples of about 5 ms, after a short warm-up."""
    clock = time.perf_counter
    begin = clock()
    step()
    once = clock() - begin
    while clock() - begin < seconds / 5:
        sample = clock()
        step()
        once = min(once, clock() - sample)
    repeats = range(max(1, int(0.005 / once)))
    times = []
    begin = clock()
    while clock() - begin < seconds or len(times) < 3:
        sample = clock()
        for _ in repeats:
            step()
        times.append(clock() - sample)
    return min(times) / len(repeats)


def fingerprint(gradients):
    """Return dtype, shape, norm and three random projections of each gradient."""
    import numpy as np

    prints = []
    for gradient in gradients:
        if hasattr(gradient, "numpy"):
            gradient = gradient.numpy()
        gradient = np.asarray(gradient)
        flat = gradient.ravel().astype("float64")
        directions = np.random.default_rng(flat.size).normal(size=(3, flat.size))
        values = [float(np.linalg.norm(flat)), *(directions @ flat).tolist()]
        prints.append([str(gradient.dtype), list(gradient.shape), values])
    return prints


# The parent: asks the workers in turn.


class Peer:
    """A worker process, as the parent sees it."""

    def __init__(self, name, python):
        self.name, self.python, self.title = name, python, LIBRARIES[name].title
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
        environment = {"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ}
        self.process = subprocess.Popen(
            [python, os.path.abspath(__file__), "--worker", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=environment,
            text=True,
            bufsize=1,
        )

    def ask(self, do, **request):
        try:
            self.process.stdin.write(json.dumps({"do": do, **request}) + "\n")
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self.log.seek(0)
            last = (self.log.read().strip().splitlines() or ["no message"])[-1]
            return {"error": f"the process ended: {last}"}
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start_peers(names, pythons, notes):
    peers = []
    for name in names:
        peer = Peer(name, pythons[name])
        answer = peer.ask("hello")
        if "error" in answer:
            notes.append(f"{peer.title} skipped: {answer['error']}")
            peer.close()
            continue
        peer.version, peer.python_version = answer["version"], answer["python"]
        peers.append(peer)
    return peers


def compare(workload, prints, notes):
    """Note every library whose gradients are not those of the reference."""
    reference = "numpy" if "numpy" in prints else next(iter(prints))
    for name, found in prints.items():
        problem = difference(found, prints[reference])
        if problem:
            notes.append(f"{workload}: {name} differs from {reference}: {problem}")


def difference(found, expected):
    if len(found) != len(expected):
        return f"{len(found)} gradients, not {len(expected)}"
    for i, (one, other) in enumerate(zip(found, expected, strict=True)):
        (dtype, shape, values), (dtype_, shape_, values_) = one, other
        if shape != shape_:
            return f"gradient {i} has shape {shape}, not {shape_}"
        error = max(abs(a - b) for a, b in zip(values, values_, strict=True))
        if not error <= TOLERANCE * values_[0]:  # also true of nan
            return f"gradient {i} is off by {error:.2g} where the norm is {values_[0]:.2g}"
        if dtype != dtype_:
            return f"gradient {i} is {dtype}, not {dtype_} (the values agree)"
    return None


def run_workload(workload, peers, rounds, seconds, notes):
    """Return each library's best time in each round."""
    prints = {}
    for peer in peers:
        answer = peer.ask("prepare", workload=workload)
        if "error" in answer:
            notes.append(f"{workload}: {peer.name} failed: {answer['error']}")
            sys.stderr.write(answer.get("traceback", ""))
        elif "gradients" in answer:
            prints[peer.name] = answer["gradients"]
    if prints:
        compare(workload, prints, notes)
    ready = [peer for peer in peers if peer.name in prints]
    times = {peer.name: [] for peer in ready}
    repeated = disturbed = 0
    for _ in range(rounds):
        for peer in list(ready):
            answer, tries, calm = measure_calmly(peer, seconds)
            repeated += tries - 1
            disturbed += not calm
            if "error" in answer:
                notes.append(f"{workload}: {peer.name} failed: {answer['error']}")
                ready.remove(peer)
            else:
                times[peer.name].append(answer["time"])
    if repeated:
        kept = f", {disturbed} kept although disturbed" if disturbed else ""
        notes.append(f"{workload}: other processes ran; repeated measurements: {repeated}{kept}")
    return {name: found for name, found in times.items() if found}


def measure_calmly(peer, seconds):
    """Measure, again while other processes take the machine; the time found plays no part in it.

    With every core at work, a thread that waits for one that was preempted can stall a step for
    80 ms: such a figure says nothing about the library.
    """
    tries, calm = 0, False
    while not calm and tries < TRIES:
        tries += 1
        time.sleep(PAUSE)
        begin, busy, own = time.perf_counter(), machine_seconds(), process_seconds(peer)
        answer = peer.ask("measure", seconds=seconds)
        foreign = machine_seconds() - busy - (process_seconds(peer) - own)
        calm = "error" in answer or foreign <= FOREIGN * (time.perf_counter() - begin)
    return answer, tries, calm


def machine_seconds():
    """Return the processor time that the machine has spent so far, 0 where Linux does not say."""
    try:
        with open("/proc/stat") as lines:
            user, nice, system, _, _, *rest = map(int, lines.readline().split()[1:9])
    except (OSError, ValueError):
        return 0.0
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")


def process_seconds(peer):
    try:
        with open(f"/proc/{peer.process.pid}/stat") as line:
            fields = line.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_imports(peers, rounds, notes):
    """Return the seconds that fresh interpreters take, in each round, without and with an import.

    The key is the library's name, or `pass <library>` for the bare start of its interpreter.
    """
    cases, bare = {}, {}
    for peer in peers:
        module = LIBRARIES[peer.name].module
        if peer.python not in bare:
            bare[peer.python] = f"pass {peer.name}"
            cases[bare[peer.python]] = (peer.python, "pass")
        cases[peer.name] = (peer.python, f"import {module}")
    times = {name: [] for name in cases}
    with tempfile.TemporaryDirectory() as cache:
        # Bytecode of its own, filled by the round before the first: whether an installed copy
        # happens to be compiled, or PYTHONDONTWRITEBYTECODE is set, decides a factor of five.
        environment = {"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ, "PYTHONPYCACHEPREFIX": cache}
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
    return times, {peer.name: bare[peer.python] for peer in peers if peer.name in times}


def spawn(python, code, environment):
    begin = time.perf_counter()
    subprocess.run([python, "-c", code], env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin


# The report.


def duration(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.2f} us"


def head_line(peers, rounds):
    versions = ", ".join(f"{LIBRARIES[peer.name].module} {peer.version}" for peer in peers)
    pythons = "/".join(sorted({peer.python_version for peer in peers}))
    machine = f"{cores()} cores ({processor()}), {platform.system()}, Python {pythons}"
    return f"{machine}; {versions}; median of {rounds} interleaved rounds."


def processor():
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.machine()


def table(header, rows):
    lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def steps_table(results, peers):
    rows = []
    for workload, times in results.items():
        medians = {name: statistics.median(found) for name, found in times.items()}
        base = medians.get("gradtape")
        row = [workload]
        for peer in peers:
            cell = "-"
            if peer.name in medians:
                cell = duration(medians[peer.name])
                if base and peer.name != "gradtape":
                    cell += f" (**{medians[peer.name] / base:.3g}x**)"
            row.append(cell)
        rows.append(row)
    return table(["one step", *(peer.title for peer in peers)], rows)


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
    known = [*workload_names(), IMPORT]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="NAME,...", help="of " + ", ".join(known))
    parser.add_argument("--peers", metavar="NAME,...", default="tensorflow,torch,autograd,numpy")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2, help="per measurement")
    parser.add_argument("--json", metavar="FILE", help="write every round's figures here")
    parser.add_argument("--python", metavar="LIBRARY=PATH", action="append", default=[])
    parser.add_argument("--worker", choices=LIBRARIES, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.only = options.only.split(",") if options.only else known
    options.names = ["gradtape", *(name for name in options.peers.split(",") if name)]
    for name in options.only:
        if name not in known:
            parser.error(f"no workload {name!r}; there are {', '.join(known)}")
    for name in options.names:
        if name not in LIBRARIES:
            parser.error(f"no library {name!r}; there are {', '.join(LIBRARIES)}")
    options.pythons = {
        name: os.environ.get(f"GRADTAPE_BENCH_PYTHON_{name.upper()}", sys.executable)
        for name in LIBRARIES
    }
    for choice in options.python:
        name, _, path = choice.partition("=")
        if name not in LIBRARIES or not path:
            parser.error(f"--python takes LIBRARY=PATH, not {choice!r}")
        options.pythons[name] = path
    return options


def main(arguments=None):
    options = parse(arguments)
    if options.worker:
        work(options.worker)
        return
    notes, results, imports = [], {}, None
    peers = start_peers(options.names, options.pythons, notes)
    head = head_line(peers, options.rounds)
    print(head, flush=True)
    for name in options.only:
        print(f"{name} ...", file=sys.stderr, flush=True)
        if name == IMPORT:
            imports = run_imports(peers, options.rounds, notes)
        else:
            results[name] = run_workload(name, peers, options.rounds, options.seconds, notes)
    for peer in peers:
        peer.close()
    if results:
        print("\nTime per step; in bold, the library's time over gradtape's: above 1, gradtape is")
        print("the faster one.\n\n" + steps_table(results, peers))
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
