"""What watching costs: a healthy training loop with and without each library's own checks.

gradtape with its doctor, TensorFlow with the same doctor (eager, and in a `tf.function`) and with
`enable_check_numerics`, PyTorch with anomaly detection: a process for each, which runs the same
steps by turns with and without, so that a slow minute of the machine hits both. Then the memory of
gradtape's doctor over 20,000 steps.
"""

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import time

import workloads.mlp_small as workload

PEERS = {
    "gradtape": "gradtape doctor",
    "torch": "torch.autograd.set_detect_anomaly",
    "tensorflow": "tf.debugging.enable_check_numerics",
    "tensorflow-doctor": "gradtape doctor on TensorFlow",
    "tensorflow-doctor-function": "gradtape doctor on a tf.function",
}
STEPS, LONG = 300, 20_000


def main(arguments):
    options = parser().parse_args(arguments)
    if options.work:
        print(json.dumps(work(options.work, options.rounds)))
        return
    for name, title in PEERS.items():
        peer = name.partition("-")[0].upper()
        python = os.environ.get(f"GRADTAPE_BENCH_PYTHON_{peer}", sys.executable)
        command = [python, __file__, "--work", name, "--rounds", str(options.rounds)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{title:40} not measured: {done.stderr.strip().splitlines()[-1]}")
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        print(
            f"{title:40} {found['plain']:8.0f} us a step, watched {found['watched']:8.0f} us: "
            f"{found['watched'] / found['plain']:.2f}x"
        )
        if "memory" in found:
            early, late = found["memory"]
            print(f"{'':40} {early:.0f} MB after 1,000 watched steps, {late:.0f} after {LONG:,}")


def parser():
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("--rounds", type=int, default=9, help="turns with and without")
    made.add_argument("--work", choices=PEERS, help=argparse.SUPPRESS)
    return made


def work(name, rounds):
    """The best time of a step, plain and watched, in microseconds."""
    make, watched = PREPARE[name]()
    best = {False: float("inf"), True: float("inf")}
    for turn in range(2 * rounds):
        on = bool(turn % 2)
        with watched() if on else contextlib.nullcontext():
            step = make()
            for _ in range(70):  # the first are looked at more closely
                step()
            begun = time.perf_counter()
            for _ in range(STEPS):
                step()
            best[on] = min(best[on], (time.perf_counter() - begun) / STEPS * 1e6)
    found = {"plain": best[False], "watched": best[True]}
    if name == "gradtape":
        with watched():
            step = make()
            found["memory"] = [memory(step, 1_000), memory(step, LONG - 1_000)]
    return found


def memory(step, steps):
    for _ in range(steps):
        step()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def prepare_gradtape():
    import gradtape as tf
    from gradtape import doctor

    step = workload.tape(tf)
    return lambda: step, doctor.watch


def prepare_torch():
    import torch

    step = workload.torch()
    return lambda: step, lambda: torch.autograd.set_detect_anomaly(True)


def prepare_tensorflow():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    @contextlib.contextmanager
    def checked():
        tf.debugging.enable_check_numerics()
        try:
            yield
        finally:
            tf.debugging.disable_check_numerics()

    step = workload.tape(tf)
    return lambda: step, checked


def prepare_tensorflow_doctor(inside=False):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    from gradtape import doctor

    step = workload.tape(tf)
    # A function that was traced before the doctor listened is not looked into.
    make = lambda: tf.function(step) if inside else step
    return make, lambda: doctor.watch(engine="tensorflow")


PREPARE = {
    "gradtape": prepare_gradtape, "torch": prepare_torch, "tensorflow": prepare_tensorflow,
    "tensorflow-doctor": prepare_tensorflow_doctor,
    "tensorflow-doctor-function": lambda: prepare_tensorflow_doctor(inside=True),
}  # fmt: skip

if __name__ == "__main__":
    main(sys.argv[1:])
