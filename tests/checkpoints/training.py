"""A training that saves after every step, to be killed: `python -m tests.checkpoints.training`.

It prints step and loss of every step, and goes on where the last complete checkpoint was.
"""

from __future__ import annotations

import sys

import gradtape as tf


def train(folder: str, steps: int) -> None:
    """Fit a small network; weights, velocities, the step and the random numbers are saved."""
    tf.random.set_seed(1)
    weights = [tf.Variable(tf.random.normal([40, 40])), tf.Variable(tf.random.normal([40]))]
    velocities = [tf.Variable(tf.zeros_like(w)) for w in weights]
    noise = tf.random.Generator.from_seed(3)
    step = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(weights=weights, velocities=velocities, rng=noise, step=step)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    manager.restore_or_initialize()
    while step < steps:
        x = noise.normal([8, 40])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(x @ weights[0] + weights[1]) - x) ** 2)
        for w, v, g in zip(weights, velocities, tape.gradient(loss, weights), strict=True):
            v.assign(0.9 * v + g)
            w.assign_sub(0.1 * v)
        step.assign_add(1)
        # Told before it is saved: a step that is not in the checkpoint is done again, the same way.
        print(int(step), repr(float(loss)), flush=True)
        manager.save()


if __name__ == "__main__":
    train(sys.argv[1], int(sys.argv[2]))
