"""Measures gradtape's memory over a long training run, and its cost per operation on a long tape.

Every figure comes from a fresh process, so that none inherits another's heap.
"""

import argparse
import importlib
import json
import resource
import subprocess
import sys
import time

LIMIT = 2.0  # MB that a training run may grow between its 1,000th and its last step


def resident():
    """Return the resident memory of this process in bytes."""
    with open("/proc/self/statm") as line:
        return int(line.read().split()[1]) * resource.getpagesize()


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def train(tf, steps):
    """Return the resident bytes after 1,000 steps of a regression, and after the last one."""
    import numpy as np

    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(32, 4)).astype("float32"))
    y = tf.constant(rng.normal(size=(32, 1)).astype("float32"))
    w, b = tf.Variable(tf.zeros([4, 1])), tf.Variable(tf.zeros([1]))
    early = None
    for step in range(1, steps + 1):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ w + b - y))
        grads = tape.gradient(loss, [w, b])
        for p, g in zip([w, b], grads, strict=True):
            p.assign_sub(0.01 * g)
        if step == 1000:
            early = resident()
    return {"early": early, "late": resident()}


def record(tf, ops, a, b):
    """Return a tape that holds a chain of `ops` scalar operations, and the chain's end."""
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = a
        for _ in range(ops // 2):
            y = y * a + b
    return tape, y


def sweep_time(tf, ops, tapes, repeats=3):
    """Return the seconds for recording a chain and for the sweep back, over several tapes.

    Short and long chains are clocked over the same number of operations: the best of many short
    moments would be compared with the average of a long one otherwise.
    """
    a, b = tf.constant(0.999), tf.constant(0.001)
    tape, y = record(tf, 1000, a, b)
    tape.gradient(y, [a, b])
    rounds = []
    for _ in range(repeats):
        forward = backward = 0.0
        for _ in range(tapes):
            begin = time.perf_counter()
            tape, y = record(tf, ops, a, b)
            middle = time.perf_counter()
            tape.gradient(y, [a, b])
            backward += time.perf_counter() - middle
            forward += middle - begin
            del tape, y
        rounds.append((forward + backward, forward, backward))
    _, forward, backward = min(rounds)
    return {"forward": forward / tapes, "backward": backward / tapes}


def sweep_memory(tf, ops, copies):
    """Return the bytes that recorded chains hold, per chain, and the peak after one sweep.

    Several short chains are held at once: one alone is lost in the allocator's granularity.
    """
    a, b = tf.constant(0.999), tf.constant(0.001)
    tape, y = record(tf, 100, a, b)
    tape.gradient(y, [a, b])
    del tape, y
    before = resident()
    held = [record(tf, ops, a, b) for _ in range(copies)]
    recorded = (resident() - before) / copies
    tape, y = held[-1]
    tape.gradient(y, [a, b])
    return {"recorded": recorded, "peak": peak() - before}


TASKS = {"train": train, "time": sweep_time, "memory": sweep_memory}


def fresh(module, task, **arguments):
    """Run a task in a process of its own."""
    command = [sys.executable, __file__, "--module", module, "--task", task]
    done = subprocess.run([*command, json.dumps(arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{task} {arguments} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def report(module, steps, short, long):
    found = fresh(module, "train", steps=steps)
    growth = (found["late"] - found["early"]) / 1e6
    verdict = "ok" if growth < LIMIT else "too much"
    print(f"| {module}: regression, resident memory | MB |\n| --- | --: |")
    print(f"| after step 1,000 | {found['early'] / 1e6:.1f} |")
    print(f"| after step {steps:,} | {found['late'] / 1e6:.1f} |")
    print(f"| growth, must stay below {LIMIT:g} | {growth:.2f} ({verdict}) |\n", flush=True)
    figures = []
    for ops in (short, long):
        small = ops == short
        clocked = fresh(module, "time", ops=ops, tapes=max(1, long // ops))
        weighed = fresh(module, "memory", ops=ops, copies=max(1, long // ops // 5))
        forward, backward = clocked["forward"] / ops, clocked["backward"] / ops
        figures.append((forward, backward, forward + backward, weighed["recorded"] / ops))
        if not small:
            highest = weighed["peak"]
    print("| operations in one tape | record | sweep back | both | memory held |")
    print("| --- | --: | --: | --: | --: |")
    for ops, (forward, backward, both, held) in zip((short, long), figures, strict=True):
        times = " | ".join(f"{1e6 * t:.2f} us/op" for t in (forward, backward, both))
        print(f"| {ops:,} | {times} | {held:.0f} B/op |")
    ratios = " | ".join(f"{b / a:.2f}x" for a, b in zip(*figures, strict=True))
    print(f"| ratio | {ratios} |\n")
    print(f"Peak during the {long:,}-operation sweep: {highest / 1e6:.0f} MB above the start.")
    return growth < LIMIT


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", default="gradtape", help="or tensorflow, to compare")
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--short", type=int, default=10_000, help="operations in the short tape")
    parser.add_argument("--long", type=int, default=1_000_000, help="and in the long one")
    parser.add_argument("--task", choices=TASKS, help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs="?", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        tf = importlib.import_module(options.module)
        print(json.dumps(TASKS[options.task](tf, **json.loads(options.arguments))))
    elif not report(options.module, options.steps, options.short, options.long):
        sys.exit(1)


if __name__ == "__main__":
    main()
