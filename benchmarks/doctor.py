"""What watching costs: a healthy training loop with and without each library's own checks.

gradtape with its doctor, TensorFlow with the same doctor (eager, and in a `tf.function`) and with
`enable_check_numerics`, PyTorch with anomaly detection: a process for each, which runs the same
steps by turns with and without, so that a slow minute of the machine hits both. Then the memory of
gradtape's doctor over 20,000 steps. `--sizes` shows instead how the cost grows: ten steps from the
first on, with 10 to 10,000 variables, of a residual network, of convolutions and of `fit`, and one
step of a million ops, on both engines, processor time and peak memory of the whole process.
`--sizes tensorflow` and `--only variables` choose among them.
"""

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np
import workloads.mlp_small as workload

PEERS = {
    "gradtape": "gradtape doctor",
    "torch": "torch.autograd.set_detect_anomaly",
    "tensorflow": "tf.debugging.enable_check_numerics",
    "tensorflow-doctor": "gradtape doctor on TensorFlow",
    "tensorflow-doctor-function": "gradtape doctor on a tf.function",
}
STEPS, LONG = 300, 20_000
ENGINES = ("gradtape", "tensorflow")


def main(arguments):
    options = parser().parse_args(arguments)
    if options.work:
        print(json.dumps(work(options.work, options.rounds)))
        return
    if options.once:
        print(json.dumps(once(*options.once)))
        return
    if options.sizes:
        engines = ENGINES if options.sizes == "both" else (options.sizes,)
        sizes(options.rounds, engines, options.only)
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
    made.add_argument(
        "--sizes", nargs="?", const="both", choices=("both", *ENGINES),
        help="how the cost grows with the program, on one engine or both",
    )  # fmt: skip
    made.add_argument("--only", choices=GROWING, help="of the programs that grow, this one")
    made.add_argument("--work", choices=PEERS, help=argparse.SUPPRESS)
    made.add_argument("--once", nargs=4, help=argparse.SUPPRESS)
    return made


# --- how the cost grows ---------------------------------------------------------------------------
def sizes(rounds, engines, only):
    """Ten steps of growing programs, plain and watched by turns, a process each."""
    cases = [("variables", str(10**k)) for k in range(1, 5)]
    cases += [("residual", "400"), ("convolutions", "64"), ("convolutions", "128")]
    cases += [("fit", "16"), ("ops", "100000"), ("ops", "1000000")]
    # Compiled modules are kept, as they are for everybody else.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for engine in engines:
        python = os.environ.get(f"GRADTAPE_BENCH_PYTHON_{engine.upper()}", sys.executable)
        for name, size in cases:
            if (only or name) != name or (engine, name) == ("gradtape", "fit"):
                continue
            if (engine, name, size) == ("tensorflow", "ops", "1000000"):
                continue  # a minute and more without the doctor
            best = {}
            for turn in range(-1, 2 * rounds):  # the first only fills caches
                how = "watched" if turn % 2 else "plain"
                command = [python, __file__, "--once", engine, name, size, how]
                done = subprocess.run(
                    command, capture_output=True, text=True, check=False, env=environment
                )
                if done.returncode:
                    print(f"{engine:12}{name:14}{size:>7} {done.stderr.strip().splitlines()[-1]}")
                    break
                if turn < 0:
                    continue
                found = json.loads(done.stdout.splitlines()[-1])
                known = best.setdefault(how, found)
                best[how] = {k: min(known[k], found[k]) for k in found}
            else:
                plain, watched = best["plain"], best["watched"]
                print(
                    f"{engine:12}{name:14}{size:>7} {plain['seconds']:8.2f} s, watched "
                    f"{watched['seconds']:8.2f} s: {watched['seconds'] / plain['seconds']:.2f}x;"
                    f"{plain['MB']:6.0f} MB, watched {watched['MB']:6.0f} MB",
                    flush=True,
                )


def once(engine, name, size, how):
    """Ten steps in this process, or one of many ops: its processor time, imports and report
    included, and its peak."""
    if engine == "tensorflow":
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        import tensorflow as tf
    else:
        import gradtape as tf
    step, steps = GROWING[name](tf, int(size)), 1 if name == "ops" else 10
    if how == "watched":
        from gradtape import doctor

        with doctor.watch(engine=engine) as report:
            for _ in range(steps):
                step()
        report.to_text()
        assert not report.findings, report.findings
        assert not report.faults, report.faults
    else:
        for _ in range(steps):
            step()
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"seconds": used.ru_utime + used.ru_stime, "MB": used.ru_maxrss / 1024}


def many_variables(tf, n):
    variables = [tf.Variable(0.5 + k / n) for k in range(n)]

    def step():
        with tf.GradientTape() as tape:
            total = variables[0] * 1.5
            for v in variables[1:]:
                total = total + v * 1.5
        for v, g in zip(variables, tape.gradient(total, variables), strict=True):
            v.assign_sub(g * 0.001)

    return step


def residual(tf, n):
    rng = np.random.default_rng(0)
    normal = lambda *shape: rng.normal(size=shape).astype("float32")
    weights = [tf.Variable(0.05 * normal(16, 16)) for _ in range(n // 2)]
    biases = [tf.Variable(tf.zeros(16)) for _ in range(n // 2)]
    x, y = tf.constant(normal(8, 16)), tf.constant(normal(8, 16))

    def step():
        with tf.GradientTape() as tape:
            h = x
            for w, b in zip(weights, biases, strict=True):
                h = h + tf.tanh(h @ w + b)
            loss = tf.reduce_mean(tf.square(h - y))
        gradients = tape.gradient(loss, weights + biases)
        for v, g in zip(weights + biases, gradients, strict=True):
            v.assign_sub(g * 0.001)

    return step


def convolutions(tf, n):
    """Residual blocks of convolutions on 16 images of n x n."""
    rng = np.random.default_rng(0)
    normal = lambda *shape: (
        rng.normal(size=shape) * (2 / np.prod(shape[:-1])) ** 0.5).astype("float32")  # fmt: skip
    first, head = tf.Variable(normal(3, 3, 3, 16)), tf.Variable(normal(16, 10))
    blocks = [tf.Variable(normal(3, 3, 16, 16)) for _ in range(8)]
    images = tf.constant(rng.normal(size=(16, n, n, 3)).astype("float32"))
    labels = tf.constant(rng.integers(0, 10, 16))
    variables = [first, *blocks, head]

    def step():
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.nn.conv2d(images, first, 1, "SAME"))
            for a, b in zip(blocks[::2], blocks[1::2], strict=True):
                inner = tf.nn.relu(tf.nn.conv2d(h, a, 1, "SAME"))
                h = tf.nn.relu(h + tf.nn.conv2d(inner, b, 1, "SAME"))
            logits = tf.reduce_mean(h, [1, 2]) @ head
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(g * 0.01)

    return step


def many_ops(tf, n):
    x = tf.Variable(1.0)

    def step():
        with tf.GradientTape() as tape:
            y = x
            for _ in range(n):
                y = y * 1.0
        tape.gradient(y, x)

    return step


def fitted(tf, n):
    """Keras's own loop over n layers, a batch each time."""
    rng = np.random.default_rng(0)
    dense = [tf.keras.layers.Dense(32, activation="relu") for _ in range(n - 1)]
    model = tf.keras.Sequential([*dense, tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = rng.normal(size=(64, 32)).astype("float32")
    y = x[:, :1] * 0.5
    return lambda: model.fit(x, y, batch_size=64, verbose=0)


GROWING = {
    "variables": many_variables, "residual": residual, "convolutions": convolutions,
    "fit": fitted, "ops": many_ops,
}  # fmt: skip


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
