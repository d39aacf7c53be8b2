"""What watching costs on networks that people train: each model in a process of its own.

Every model is trained by Keras's `fit` for a number of steps, plain and under `gradtape doctor`,
on one engine. Printed are the processor time and the peak memory of the whole process, imports
included, both as a share of the plain run, and the last line of the report.

    python benchmarks/doctor_models.py --engine tensorflow --steps 8 100
    python benchmarks/doctor_models.py --engine gradtape --only resnet50 lstm

GRADTAPE_BENCH_PYTHON_TENSORFLOW names the Python that has TensorFlow, if it is not this one.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

BATCH = 16
ENGINES, HOW = ("tensorflow", "gradtape"), ("plain", "watched")
ALLOWED_CPU, ALLOWED_SECONDS, ALLOWED_MEMORY = 1.5, 2.0, 1.5


def main(arguments):
    options = parser().parse_args(arguments)
    if options.run:
        train(options.run, options.steps[0], options.batch)
        return
    for engine in options.engine:
        for name in options.only or MODELS:
            for steps in options.steps:
                report(engine, name, steps, options)


def parser():
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("--engine", nargs="+", choices=ENGINES, default=ENGINES)
    made.add_argument("--only", nargs="+", choices=MODELS, help="these models")
    made.add_argument("--steps", nargs="+", type=int, default=[8, 100])
    made.add_argument("--batch", type=int, default=BATCH)
    made.add_argument("--how", nargs="+", choices=HOW, default=HOW)
    made.add_argument("--timeout", type=float, default=3600, help="seconds for each process")
    made.add_argument("--run", choices=MODELS, help=argparse.SUPPRESS)
    return made


def report(engine, name, steps, options):
    """Measure a model both ways, and print a line."""
    figures = {how: measured(engine, name, steps, how, options) for how in options.how}
    words = [f"{engine:10} {name:16} {steps:4} steps"]
    for how, (seconds, megabytes, _) in figures.items():
        words.append(f"{how} {seconds:6.1f} s {megabytes:6.0f} MB")
    if len(figures) == 2:
        (plain, own, _), (watched, with_doctor, _) = figures["plain"], figures["watched"]
        well = watched <= ALLOWED_CPU * plain + ALLOWED_SECONDS
        well = well and with_doctor <= ALLOWED_MEMORY * own
        words.append(
            f"{watched / plain:.2f}x ({watched - plain:+.1f} s) {with_doctor / own:.2f}x memory"
            f"{'' if well else ' TOO MUCH'}"
        )
    print("; ".join(words), figures.get("watched", (0, 0, ""))[2], sep="\n    ", flush=True)


def measured(engine, name, steps, how, options):
    """Processor seconds and peak megabytes of a process, and the last line that it printed."""
    python = os.environ.get(f"GRADTAPE_BENCH_PYTHON_{engine.upper()}", sys.executable)
    program = [__file__, "--run", name, "--steps", str(steps), "--batch", str(options.batch)]
    if how == "watched":
        command = [python, "-m", "gradtape", "doctor", "--engine", engine, "--", *program]
    elif engine == "gradtape":
        command = [python, "-m", "gradtape", "run", *program]
    else:
        command = [python, *program]
    with tempfile.TemporaryFile("w+") as output:
        begun = time.monotonic()
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        ended, used = 0, None
        while not ended:
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
            if not ended and time.monotonic() - begun > options.timeout:
                process.kill()
            time.sleep(0.05)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        lines = [re.sub(r"\s+", " ", line).strip() for line in output]
    verdicts = [line for line in lines if re.search(r"gradients?\b|finding|error", line)]
    last = verdicts[-1] if verdicts else (lines or [""])[-1]
    words = last if process.returncode == 0 else f"exit code {process.returncode}: {last}"
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, words


# --- the models -----------------------------------------------------------------------------------
def train(name, steps, batch):
    # A benchmark beside this one is called keras.py.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
    import numpy as np
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    model, x, y, loss = MODELS[name](tf, rng, steps * batch)
    model.compile("adam", loss)
    model.fit(x, y, batch_size=batch, epochs=1, verbose=0, shuffle=False)


def images(rng, number, size, classes):
    """Noise with a brighter square whose corner is the class."""
    x = rng.normal(size=(number, size, size, 3)).astype("float32") * 0.3
    y = rng.integers(0, classes, number)
    for k, label in enumerate(y):
        x[k, label * 4 : label * 4 + 8, label * 4 : label * 4 + 8] += 1.0
    return x, y


CLASSES = "sparse_categorical_crossentropy"


def resnet50(tf, rng, number):
    """Keras's own."""
    model = tf.keras.applications.ResNet50(weights=None, input_shape=(64, 64, 3), classes=10)
    return model, *images(rng, number, 64, 10), CLASSES


def mobilenet_v2(tf, rng, number):
    """Keras's own."""
    model = tf.keras.applications.MobileNetV2(weights=None, input_shape=(64, 64, 3), classes=10)
    return model, *images(rng, number, 64, 10), CLASSES


def convolutions(tf, rng, number, use_bias=True):
    """Eight convolutions, each with a batch normalisation behind it."""
    layers = tf.keras.layers
    stack = [layers.Input((32, 32, 3))]
    for _ in range(8):
        stack += [layers.Conv2D(32, 3, padding="same", use_bias=use_bias)]
        stack += [layers.BatchNormalization(), layers.ReLU()]
    stack += [layers.GlobalAveragePooling2D(), layers.Dense(6, activation="softmax")]
    return tf.keras.Sequential(stack), *images(rng, number, 32, 6), CLASSES


def unbiased(tf, rng, number):
    """The same without the biases."""
    return convolutions(tf, rng, number, use_bias=False)


def transformer(tf, rng, number):
    """Six blocks of attention over 32 words."""
    layers = tf.keras.layers
    words, width = tf.keras.Input((32,), dtype="int32"), 64
    h = layers.Embedding(1000, width)(words)
    h = h + layers.Embedding(32, width)(tf.range(32))
    for _ in range(6):
        attended = layers.MultiHeadAttention(4, width // 4)(h, h)
        h = layers.LayerNormalization()(h + attended)
        inner = layers.Dense(4 * width, activation="gelu")(h)
        h = layers.LayerNormalization()(h + layers.Dense(width)(inner))
    scores = layers.Dense(5, activation="softmax")(layers.GlobalAveragePooling1D()(h))
    x = rng.integers(0, 1000, (number, 32)).astype("int32")
    return tf.keras.Model(words, scores), x, x[:, 0] % 5, CLASSES


def unet(tf, rng, number):
    """Three levels down and up again, with batch normalisation."""
    layers = tf.keras.layers

    def block(h, width):
        for _ in range(2):
            h = layers.Conv2D(width, 3, padding="same")(h)
            h = layers.ReLU()(layers.BatchNormalization()(h))
        return h

    inputs = tf.keras.Input((64, 64, 3))
    h, skipped = inputs, []
    for width in (16, 32, 64):
        h = block(h, width)
        skipped.append(h)
        h = layers.MaxPooling2D()(h)
    h = block(h, 128)
    for width in (64, 32, 16):
        h = layers.Conv2DTranspose(width, 2, strides=2)(h)
        h = block(layers.Concatenate()([h, skipped.pop()]), width)
    mask = layers.Conv2D(1, 1, activation="sigmoid")(h)
    x, _ = images(rng, number, 64, 10)
    y = (tf.nn.avg_pool2d(x, 5, 1, "SAME").numpy().mean(-1, keepdims=True) > 0.2).astype("float32")
    return tf.keras.Model(inputs, mask), x, y, "binary_crossentropy"


def lstm(tf, rng, number):
    """An LSTM over 200 steps."""
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Input((200, 8)), layers.LSTM(32), layers.Dense(1, activation="sigmoid")]
    )
    x = rng.normal(size=(number, 200, 8)).astype("float32")
    return model, x, (x[:, -8:, 0].mean(1) > 0).astype("float32")[:, None], "binary_crossentropy"


MODELS = {
    "resnet50": resnet50, "mobilenet_v2": mobilenet_v2, "unet": unet, "transformer": transformer,
    "lstm": lstm, "convolutions": convolutions, "unbiased": unbiased,
}  # fmt: skip

if __name__ == "__main__":
    main(sys.argv[1:])
