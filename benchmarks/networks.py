"""Measures whole trainings with Keras, first step and compiling included, beside TensorFlow.

    python benchmarks/networks.py
    python benchmarks/networks.py --only vit,bidirectional_lstm --peer ~/tensorflow/bin/python

Programs of examples/keras at sizes of their own, each in a fresh process on each engine, one after
the other: processor seconds of all threads, and peak memory. What `import` costs is in both, and in
the first line. On gradtape nothing that was compiled before is used.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import QUIET, table

EXAMPLES = Path(__file__).parents[1] / "examples" / "keras"
SIZES = {
    "text_transformer": "--length 200 --words 20000 --width 32 --batch 32 --batches 25",
    "compact_transformer": "--size 32 --width 128 --batch 64 --batches 20",
    "patch_convnet": "--size 64 --width 128 --batch 64 --batches 20",
    "vit": "--size 64 --patch 6 --width 64 --blocks 6 --batch 64 --batches 20",
    "bidirectional_lstm": "--steps 200 --units 64 --batch 32 --batches 10",
}
TOLERANCE = 0.02  # of the last losses, whose first digits rounding has reached by then
IMPORTS = "import tensorflow as tf; from tensorflow import keras; keras.layers.Dense(1)"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help=f"programs, divided by commas: {', '.join(SIZES)}")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--peer", default=sys.executable, help="a Python that has TensorFlow")
    options = parser.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder, "imports.py")
        empty.write_text(IMPORTS)
        rows.append(row("import", [str(empty)], options.peer))
        for name in options.only.split(",") if options.only else SIZES:
            flags = [*SIZES[name].split(), "--epochs", str(options.epochs)]
            rows.append(row(name, [str(EXAMPLES / f"{name}.py"), *flags], options.peer))
    header = ["program", "gradtape", "TensorFlow", "ratio", "gradtape", "TensorFlow", "ratio"]
    print(table(header, rows))


def row(name, program, peer):
    """Return a line of the table: processor time and peak memory of a program on both engines."""
    ours = run([sys.executable, "-m", "gradtape", "run", *program])
    theirs = run([peer, *program])
    for line, other in zip(ours[2].splitlines(), theirs[2].splitlines(), strict=True):
        loss, expected = (float(text.split()[-1]) for text in (line, other))
        if abs(loss - expected) > TOLERANCE * expected:
            print(f"{name} prints {line!r} on gradtape, {other!r} on TensorFlow")
    seconds, memory = (own / other for own, other in zip(ours[:2], theirs[:2], strict=True))
    return [
        name,
        *[f"{ours[0]:.2f} s", f"{theirs[0]:.2f} s", f"{seconds:.2f}"],
        *[f"{ours[1]:.0f} MB", f"{theirs[1]:.0f} MB", f"{memory:.2f}"],
    ]


def run(command):
    """Return the processor seconds and the peak memory in MB of a process, and what it prints."""
    environment = {**os.environ, **QUIET, "GRADTAPE_CACHE": "0"}
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            command, env=environment, stdout=printed, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{' '.join(command)} ended with {process.returncode}")
        printed.seek(0)
        text = printed.read().decode()
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


if __name__ == "__main__":
    main(sys.argv[1:])
