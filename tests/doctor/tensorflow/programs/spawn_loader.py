"""A data loader with worker processes that are spawned: each makes a part of the samples."""

import multiprocessing as mp
import os

import numpy as np


def make_samples(job):
    """Runs in a worker: no TensorFlow is needed here."""
    seed, count = job
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, size=count)
    radius = rng.choice([1.0, 2.0], size=count)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    points += 0.05 * rng.normal(size=points.shape)
    return points.astype("float32"), (radius > 1.5).astype("float32"), mp.current_process().name


def main():
    import tensorflow as tf

    tf.keras.utils.set_random_seed(2)
    context = mp.get_context("spawn")
    with context.Pool(2) as pool:
        parts = pool.map(make_samples, [(seed, 64) for seed in range(6)])
    x = np.concatenate([part[0] for part in parts])
    y = np.concatenate([part[1] for part in parts])
    names = {part[2].rpartition("-")[0] for part in parts}
    print(len(x), "samples by", names, "from", os.path.basename(__file__))

    model = tf.keras.Sequential(
        [
            tf.keras.Input((2,)),
            tf.keras.layers.Dense(16, activation="tanh"),
            tf.keras.layers.Dense(1),
        ]
    )
    optimizer = tf.keras.optimizers.Adam(0.05)
    loss_of = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    for epoch in range(5):
        losses = []
        for start in range(0, len(x), 64):
            xs, ys = x[start : start + 64], y[start : start + 64]
            with tf.GradientTape() as tape:
                loss = loss_of(ys[:, None], model(xs, training=True))
            gradients = tape.gradient(loss, model.trainable_weights)
            optimizer.apply(gradients, model.trainable_weights)
            losses.append(float(loss))
        print(f"epoch {epoch}: {np.mean(losses):.6f}")
    right = np.mean((model(x).numpy()[:, 0] > 0) == (y > 0.5))
    print(f"{right:.1%} of the points are on the right ring")


if __name__ == "__main__":
    main()
