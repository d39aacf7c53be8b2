"""What `eager.py` and `function.py` share: libraries in processes of their own, which work in turn.

One process per library loads it once and then works on request, one at a time, in turn: a slow
minute of the machine hits every library alike.
"""

import argparse
import importlib
import importlib.metadata
import json
import os
import pkgutil
import platform
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import workloads


@dataclass(frozen=True)
class Library:
    title: str
    module: str
    # From the library's module and that of a workload to its step; None where there is none.
    build: Callable[[ModuleType, ModuleType], Any]


PAUSE = 0.25  # OpenBLAS threads spin for 0.11 s after their last call; let them fall asleep
FOREIGN = 0.15  # of one core: more than that, used by other processes, disturbs a measurement
TRIES = 5  # how often a disturbed measurement is done again before it counts all the same
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"}
CHUNK = 1 << 16  # numbers that are looked at in one go: memory is measured too


def workload_names():
    return [m.name.replace("_", "-") for m in pkgutil.iter_modules(workloads.__path__)]


def load_workload(name):
    return importlib.import_module("workloads." + name.replace("-", "_"))


def cores():
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def hide_scripts():
    """Keep the scripts of this folder from being taken for modules: one is called `keras`."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]


# The worker: one library, one process.


def work(worker_class, library):
    """Answer requests, one JSON object per line, until the input ends."""
    hide_scripts()  # TensorFlow imports `keras`
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a library prints must not end up among the answers
    worker = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if worker is None:
                worker = worker_class(library)
            answer = getattr(worker, request.pop("do"))(**request)
        except Exception as error:
            traceback.print_exc()  # into the log
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        answers.write(json.dumps(answer) + "\n")


class Worker:
    """What a library's process can be asked for; `look` is what is compared, and differs."""

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
        """Build the step and say what its first runs compute."""
        self.step = self.library.build(self.module, load_workload(workload))
        if self.step is None:
            return {"absent": True}
        return {"prints": self.look()}

    def measure(self, seconds):
        return {"time": best_time(self.step, seconds)}

    def look(self):
        """Return the fingerprints of what the first and the third run return."""
        raise NotImplementedError


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


def fingerprint(arrays):
    """Return dtype, shape, norm and three random projections of each array."""
    import numpy as np

    prints = []
    for array in arrays:
        array = as_numpy(array)
        flat = array.reshape(-1)
        random = np.random.default_rng(flat.size)
        squares, projections = 0.0, np.zeros(3)
        for begin in range(0, flat.size, CHUNK):
            part = flat[begin : begin + CHUNK].astype("float64")
            squares += float(part @ part)
            projections += random.normal(size=(3, part.size)) @ part
        values = [squares**0.5, *projections.tolist()]
        prints.append([str(array.dtype), list(array.shape), values])
    return prints


def as_numpy(array):
    import numpy as np

    if hasattr(array, "detach"):
        array = array.detach()
    return array.numpy() if hasattr(array, "numpy") else np.asarray(array)


# The parent: asks the workers in turn.


class Peer:
    """A worker process, as the parent sees it."""

    def __init__(self, name, library, python, environment):
        self.name, self.python = name, python
        self.title, self.module = library.title, library.module
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
        self.process = subprocess.Popen(
            [python, os.path.abspath(sys.argv[0]), "--worker", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env={**os.environ, **environment},
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


def start_peers(libraries, names, pythons, environment=QUIET):
    """Return the processes, and the reasons why others are absent."""
    peers, absent = [], {}
    for name in names:
        peer = Peer(name, libraries[name], pythons[name], environment)
        answer = peer.ask("hello")
        if "error" in answer:
            absent[name] = answer["error"]
            peer.close()
            continue
        peer.version, peer.python_version = answer["version"], answer["python"]
        peers.append(peer)
    return peers, absent


def compare(workload, prints, tolerance, notes):
    """Note every library whose results are not those of the reference."""
    reference = "numpy" if "numpy" in prints else next(iter(prints))
    for name, found in prints.items():
        problem = difference(found, prints[reference], tolerance)
        if problem:
            notes.append(f"{workload}: {name} differs from {reference}: {problem}")


def difference(found, expected, tolerance):
    if len(found) != len(expected):
        return f"{len(found)} results, not {len(expected)}"
    for i, (one, other) in enumerate(zip(found, expected, strict=True)):
        (dtype, shape, values), (dtype_, shape_, values_) = one, other
        if shape != shape_:
            return f"result {i} has shape {shape}, not {shape_}"
        error = max(abs(a - b) for a, b in zip(values, values_, strict=True))
        if not error <= tolerance * values_[0]:  # also true of nan
            return f"result {i} is off by {error:.2g} where the norm is {values_[0]:.2g}"
        if dtype != dtype_:
            return f"result {i} is {dtype}, not {dtype_} (the values agree)"
    return None


def run_workload(workload, peers, options, tolerance, notes):
    """Return each library's best time in each round, and the reasons why others have none."""
    prints, failed = {}, {}
    for peer in peers:
        answer = peer.ask("prepare", workload=workload)
        if "error" in answer:
            failed[peer.name] = answer["error"]
        elif "prints" in answer:
            prints[peer.name] = answer["prints"]
    if prints:
        compare(workload, prints, tolerance, notes)
    ready = [peer for peer in peers if peer.name in prints]
    times = {peer.name: [] for peer in ready}
    repeated = disturbed = 0
    for _ in range(options.rounds):
        for peer in list(ready):
            answer, tries, calm = measure_calmly(peer, options.seconds)
            repeated += tries - 1
            disturbed += not calm
            if "error" in answer:
                failed[peer.name] = answer["error"]
                ready.remove(peer)
            else:
                times[peer.name].append(answer["time"])
    if repeated:
        kept = f", {disturbed} kept although disturbed" if disturbed else ""
        notes.append(f"{workload}: other processes ran; repeated measurements: {repeated}{kept}")
    return {name: found for name, found in times.items() if name not in failed}, failed


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


# The report.


def duration(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.2f} us"


def head_line(peers, figures):
    versions = ", ".join(dict.fromkeys(f"{peer.module} {peer.version}" for peer in peers))
    pythons = "/".join(sorted({peer.python_version for peer in peers}))
    machine = f"{cores()} cores ({processor()}), {platform.system()}, Python {pythons}"
    return f"{machine}; {versions}; {figures}."


def processor():
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.machine()


def table(header, rows):
    lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


# The options.


def common_options(parser, libraries, known, flag):
    """Add what both scripts understand; `flag` chooses among the libraries."""
    others = ",".join(name for name in libraries if name != "gradtape")
    parser.add_argument("--only", metavar="NAME,...", help="of " + ", ".join(known))
    parser.add_argument(flag, dest="names", metavar="NAME,...", default=others, help="of " + others)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2, help="per measurement")
    parser.add_argument("--json", metavar="FILE", help="write every round's figures here")
    parser.add_argument("--python", metavar="LIBRARY=PATH", action="append", default=[])
    parser.add_argument("--worker", choices=libraries, help=argparse.SUPPRESS)


def read_options(parser, libraries, known, arguments):
    options = parser.parse_args(arguments)
    options.only = options.only.split(",") if options.only else known
    options.names = list(dict.fromkeys(["gradtape", *filter(None, options.names.split(","))]))
    for name in options.only:
        if name not in known:
            parser.error(f"no workload {name!r}; there are {', '.join(known)}")
    for name in options.names:
        if name not in libraries:
            parser.error(f"no library {name!r}; there are {', '.join(libraries)}")
    variables = {
        name: f"GRADTAPE_BENCH_PYTHON_{libraries[name].module.upper()}" for name in libraries
    }
    options.pythons = {name: os.environ.get(v, sys.executable) for name, v in variables.items()}
    for choice in options.python:
        name, _, path = choice.partition("=")
        chosen = [each for each, library in libraries.items() if name in (each, library.module)]
        if not chosen or not path:
            parser.error(f"--python takes LIBRARY=PATH, not {choice!r}")
        options.pythons.update(dict.fromkeys(chosen, path))
    return options
