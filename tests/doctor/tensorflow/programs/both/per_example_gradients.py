"""Per-example gradients: jacobian, batch_jacobian and vectorized_map; then DP-SGD with them."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(29)
x = tf.constant(rng.normal(size=(24, 3)), tf.float32)
y = tf.constant(np.sign(rng.normal(size=(24, 1)) + x.numpy()[:, :1]), tf.float32)
w = tf.Variable(0.2 * rng.normal(size=(3, 1)).astype("float32"))
b = tf.Variable([0.0])


def losses(x, y):
    return tf.reduce_mean(tf.math.softplus(-y * (x @ w + b)), axis=1)


with tf.GradientTape() as tape:
    each = losses(x, y)
by_jacobian = tape.jacobian(each, w)
print("jacobian", by_jacobian.shape)


def one(pair):
    features, label = pair
    with tf.GradientTape() as tape:
        loss = losses(features[None], label[None])[0]
    return tape.gradient(loss, w)


by_map = tf.vectorized_map(one, (x, y))
by_loop = tf.stack([one((x[k], y[k])) for k in range(24)])
for name, other in (("map", by_map), ("loop", by_loop)):
    print(name, "gives the same:", np.allclose(by_jacobian, other, atol=1e-6))

hidden = tf.constant(rng.normal(size=(3, 4)), tf.float32)
with tf.GradientTape() as tape:
    tape.watch(x)
    out = tf.tanh(x @ hidden)
per_row = tape.batch_jacobian(out, x)
expected = (1 - out**2)[:, :, None] * tf.transpose(hidden)[None]
print("batch_jacobian", per_row.shape, np.allclose(per_row, expected, atol=1e-6))

# Clip each example's gradient, add noise, average.
CLIP, NOISE, RATE = 0.5, 0.3, 0.5
for step in range(16):
    with tf.GradientTape(persistent=True) as tape:
        each = losses(x, y)
    dw, db = tape.jacobian(each, w), tape.jacobian(each, b)
    del tape
    flat = tf.concat([tf.reshape(dw, [24, -1]), tf.reshape(db, [24, -1])], axis=1)
    norms = tf.norm(flat, axis=1, keepdims=True)
    flat = flat * tf.minimum(1.0, CLIP / norms)
    noise = tf.constant(rng.normal(size=4) * NOISE * CLIP, tf.float32)
    mean = (tf.reduce_sum(flat, axis=0) + noise) / 24
    w.assign_sub(RATE * tf.reshape(mean[:3], [3, 1]))
    b.assign_sub(RATE * mean[3:])
    if step % 5 == 0:
        print(f"step {step:2d}: loss {float(tf.reduce_mean(each)):.4f}")
