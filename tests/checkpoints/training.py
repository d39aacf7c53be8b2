"""A training that saves after every step, to be killed: `python -m tests.checkpoints.training`.

It prints step and loss of every step, and goes on where the last complete checkpoint was.
"""

from __future__ import annotations

import sys

import gradtape as tf


def train(folder: str, steps: int) -> None:
    """Fit a small network of Keras; its weights, what Adam keeps, the step, the random numbers and
    the place in the data are saved."""
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.Input((40,)), tf.keras.layers.Dense(40, "tanh")])
    optimizer = tf.keras.optimizers.Adam(0.01)
    noise = tf.random.Generator.from_seed(3)
    data = iter(
        tf.data.Dataset.from_tensor_slices(tf.eye(40)).shuffle(40, seed=2).repeat().batch(8)
    )
    step = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(
        model=model, optimizer=optimizer, rng=noise, data=data, step=step
    )
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    manager.restore_or_initialize()
    while step < steps:
        x = next(data) + 0.1 * noise.normal([8, 40])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - x) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        step.assign_add(1)
        # Told before it is saved: a step that is not in the checkpoint is done again, the same way.
        print(int(step), repr(float(loss)), flush=True)
        manager.save()


if __name__ == "__main__":
    train(sys.argv[1], int(sys.argv[2]))
