"""Times Keras on gradtape beside Keras on TensorFlow and on JAX, one run.

    python benchmarks/keras.py
    python benchmarks/keras.py --only fit-mlp,eager-mlp --peers tensorflow --rounds 3

The same Keras in every process; one process per backend works on request, one at a time, in turn.
See README.md beside this file.
"""

import argparse
import importlib
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import peers
from peers import Library, duration, table

LIBRARIES = {
    "gradtape": Library("gradtape", "gradtape", lambda keras, workload: workload(keras)),
    "tensorflow": Library("TensorFlow", "tensorflow", lambda keras, workload: workload(keras)),
    "jax": Library("JAX", "jax", lambda keras, workload: workload(keras)),
}
# The peer's time over gradtape's that is to be reached.
BARS = {
    "fit-mlp": {"tensorflow": 10.0, "jax": 3.0},
    "eager-mlp": {"tensorflow": 6.0},
    "fit-cnn": {"tensorflow": 1.0},
    "resnet50": {"tensorflow": 0.5},
    "first-epoch": {"tensorflow": 3.0},
}
FIRST = "first-epoch"
OTHERS = ("tensorflow", "jax", "torch", "pandas", "sklearn")
BATCH, EPOCHS = 32, 12  # short epochs, so that some are not interrupted
TOLERANCE = 1e-3  # of the losses of the first epoch, relative


def load_keras(library):
    """Import Keras with a backend; gradtape is TensorFlow to it."""
    os.environ["KERAS_BACKEND"] = "jax" if library == "jax" else "tensorflow"
    if library == "gradtape":
        from gradtape.api import alias

        alias.install()
    return importlib.import_module("keras")


# The workloads.


class Workload:
    """A run of many steps; `losses` are what the backends must agree on."""

    def __init__(self, losses, run):
        self.losses, self.run = losses, run  # `run` returns the shortest time of a step, and steps
        self.steps, self.processor = 0, 0.0  # of all runs

    def measure(self):
        begin = time.process_time()
        found, steps = self.run()
        self.processor += time.process_time() - begin
        self.steps += steps
        return found


def data(rows, *shape):
    import numpy as np

    random = np.random.default_rng(1)
    x = random.standard_normal((rows, *shape)).astype("float32")
    return x, random.integers(0, 10, rows)


def start_alike(model):
    """Give a model the same weights on every backend."""
    import numpy as np

    random = np.random.default_rng(2)
    weights = [random.standard_normal(w.shape) / max(w.shape[0], 8) for w in model.weights]
    model.set_weights([w.astype("float32") for w in weights])


def mlp(keras):
    """64 inputs, two hidden layers of 64, 10 classes."""
    dense = keras.layers.Dense
    layers = [dense(64, activation="relu"), dense(64, activation="relu"), dense(10)]
    return keras.Sequential([keras.Input((64,)), *layers])


def cnn(keras):
    """Images of 28 x 28: two convolutions with pooling, and a dense layer."""
    convolution, pool = keras.layers.Conv2D, keras.layers.MaxPooling2D
    layers = [convolution(16, 3, activation="relu"), pool(), convolution(32, 3, activation="relu")]
    layers += [pool(), keras.layers.Flatten(), keras.layers.Dense(10)]
    return keras.Sequential([keras.Input((28, 28, 1)), *layers])


def compile_model(keras, model):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(1e-3), loss, metrics=["accuracy"])
    return model


def fit(keras, model, x, y):
    """`fit` of several epochs, of which the quickest after the first counts."""
    compile_model(keras, model)
    start_alike(model)
    steps = -(-len(x) // BATCH)

    class Clock(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.begin = time.perf_counter()

        def on_epoch_end(self, epoch, logs=None):
            self.times.append(time.perf_counter() - self.begin)

    clock = Clock()

    def run():
        clock.times = []
        model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=0, callbacks=[clock])
        return min(clock.times[1:]) / steps, EPOCHS * steps

    first = model.fit(x, y, batch_size=BATCH, epochs=2, verbose=0, shuffle=False)
    return Workload(first.history["loss"] + first.history["accuracy"], run)


def fit_mlp(keras):
    return fit(keras, mlp(keras), *data(1600, 64))


def fit_cnn(keras):
    return fit(keras, cnn(keras), *data(320, 28, 28, 1))


def eager_mlp(keras):
    """A training loop with a tape, and no `tf.function`."""
    if keras.backend.backend() != "tensorflow":
        return None  # JAX has no tape
    import tensorflow as tf

    model, optimizer = mlp(keras), keras.optimizers.Adam(1e-3)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    start_alike(model)
    x, y = map(tf.constant, data(BATCH, 64))

    def step():
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    def run():
        before = optimizer.iterations.numpy()
        return peers.best_time(step, 0.5), int(optimizer.iterations.numpy() - before)

    return Workload([float(step()) for _ in range(10)], run)


def resnet50(keras):
    """Building a large model, of which nothing is computed but its initial weights."""
    if keras.backend.backend() != "tensorflow":
        return None

    def build():
        keras.backend.clear_session()
        begin = time.perf_counter()
        model = keras.applications.ResNet50(weights=None)
        build.parameters = model.count_params()
        return time.perf_counter() - begin, 1

    build()
    return Workload([build.parameters], build)


WORKLOADS = {
    "fit-mlp": fit_mlp, "eager-mlp": eager_mlp, "fit-cnn": fit_cnn, "resnet50": resnet50,
}  # fmt: skip


def first_epoch(library):
    """As a script: from nothing to the end of an epoch.

    Keras imports what it finds of other backends, pandas and scikit-learn, 3 s of it where this
    benchmark can run at all. Each backend has what its own installation brings.
    """
    sys.modules.update(dict.fromkeys(set(OTHERS) - {LIBRARIES[library].module}))
    if library == "gradtape":
        del sys.modules["tensorflow"]  # its alias
    keras = load_keras(library)
    model = compile_model(keras, mlp(keras))
    history = model.fit(*data(3200, 64), batch_size=BATCH, epochs=1, verbose=0)
    print(history.history["loss"][-1], flush=True)


class Worker(peers.Worker):
    """Keras on one backend."""

    def __init__(self, library):
        self.keras = load_keras(library.module)
        super().__init__(library)

    def prepare(self, workload):
        self.step = self.library.build(self.keras, WORKLOADS[workload])
        if self.step is None:
            return {"absent": True}
        return {"prints": self.look()}

    def look(self):
        import numpy as np

        return peers.fingerprint([np.array(self.step.losses, "float64")])

    def measure(self, seconds):
        return {"time": self.step.measure()}

    def processor(self):
        """Return the processor time of a step, of all threads, in all runs."""
        return {"time": self.step.processor / self.step.steps}


def run_first_epochs(options):
    """Return the seconds of fresh processes in each round, and why some have none."""
    times, absent = {name: [] for name in options.names}, {}
    with tempfile.TemporaryDirectory() as cache:
        # Bytecode of its own, filled by the round before the first.
        environment = {**peers.QUIET, **os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for round_ in range(options.rounds + 1):
            for name in list(times):
                time.sleep(peers.PAUSE)
                command = [options.pythons[name], os.path.abspath(__file__), "--script", name]
                begin = time.perf_counter()
                done = subprocess.run(command, env=environment, capture_output=True, text=True)
                seconds = time.perf_counter() - begin
                if done.returncode:
                    absent[name] = (done.stderr.strip().splitlines() or ["no message"])[-1]
                    del times[name]
                elif round_:
                    times[name].append(seconds)
    return times, absent


# The report.


def times_table(results, names):
    rows = []
    for workload, times in results.items():
        medians = {name: statistics.median(found) for name, found in times.items() if found}
        row = [workload, duration(medians["gradtape"]) if "gradtape" in medians else "-"]
        for name in names[1:]:
            if name not in medians or "gradtape" not in medians:
                row += ["-", "-"]
                continue
            ratio, bar = medians[name] / medians["gradtape"], BARS[workload].get(name)
            cell = f"{duration(medians[name])} (**{ratio:.3g}x**)"
            met = "-" if bar is None else f"{bar:.3g}x: {'met' if ratio >= bar else 'not met'}"
            row += [cell, met]
        rows.append(row)
    titles = [part for name in names[1:] for part in (LIBRARIES[name].title, "bar")]
    return table(["Keras on", "gradtape", *titles], rows)


def parse(arguments):
    known = list(BARS)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    peers.common_options(parser, LIBRARIES, known, "--peers")
    parser.add_argument("--script", choices=LIBRARIES, help=argparse.SUPPRESS)
    return peers.read_options(parser, LIBRARIES, known, arguments)


def main(arguments=None):
    peers.hide_scripts()
    options = parse(arguments)
    if options.script:
        first_epoch(options.script)
        return
    if options.worker:
        peers.work(Worker, LIBRARIES[options.worker])
        return
    notes, results, processor = [], {}, {}
    running, absent = peers.start_peers(LIBRARIES, options.names, options.pythons)
    notes += [f"{LIBRARIES[name].title} skipped: {reason}" for name, reason in absent.items()]
    figures = f"Keras {importlib.metadata.version('keras')}; median of {options.rounds}"
    head = peers.head_line(running, f"{figures} interleaved rounds")
    print(head, flush=True)
    for name in options.only:
        print(f"{name} ...", file=sys.stderr, flush=True)
        if name == FIRST:
            options.names = [peer.name for peer in running]
            results[name], failed = run_first_epochs(options)
        else:
            results[name], failed = peers.run_workload(name, running, options, TOLERANCE, notes)
            asked = [peer for peer in running if peer.name in results[name]]
            processor[name] = {peer.name: [peer.ask("processor")["time"]] for peer in asked}
        notes += [f"{name}: {peer} failed: {reason}" for peer, reason in failed.items()]
    for peer in running:
        peer.close()
    print("\nTime per step (of `resnet50` and `first-epoch`: in all); in bold, the backend's time")
    print("over gradtape's: above 1, gradtape is the faster one.\n")
    names = [peer.name for peer in running]
    print(times_table(results, names))
    if processor:
        print("\nProcessor time of the same, all threads, on the average: it depends less on what")
        print("else the machine does.\n\n" + times_table(processor, names))
    if notes:
        print("\n" + "\n".join(f"- {note}" for note in notes))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(
                {"head": head, "notes": notes, "times": results, "processor": processor},
                file,
                indent=1,
            )


if __name__ == "__main__":
    main()
