"""Second derivatives: Hessian-vector products three ways, conjugate gradients, Newton's steps."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(6)
features = tf.constant(rng.normal(size=(60, 5)))
labels = tf.constant((rng.random(60) < 0.5).astype("float64"))
w = tf.Variable(np.zeros(5))


def loss_fn():
    logits = tf.linalg.matvec(features, w)
    cross = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(cross) + 0.05 * tf.reduce_sum(w**2)


def hvp_back_over_back(vector):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = loss_fn()
        gradient = inner.gradient(loss, w)
    return outer.gradient(gradient, w, output_gradients=vector)


def hvp_forward_over_back(vector):
    with tf.autodiff.ForwardAccumulator(w, vector) as accumulator:
        with tf.GradientTape() as tape:
            loss = loss_fn()
        gradient = tape.gradient(loss, w)
    return accumulator.jvp(gradient)


def hessian():
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = loss_fn()
        gradient = inner.gradient(loss, w)
    return gradient, outer.jacobian(gradient, w)


vector = tf.constant(rng.normal(size=5))
gradient, matrix = hessian()
for way in (hvp_back_over_back, hvp_forward_over_back):
    same = np.allclose(way(vector), tf.linalg.matvec(matrix, vector), atol=1e-8)
    print(way.__name__, "agrees:", same)
print("symmetric:", np.allclose(matrix, tf.transpose(matrix)))
print("positive:", bool(tf.reduce_all(tf.linalg.eigvalsh(matrix) > 0)))


def conjugate_gradients(right, steps=5):
    x = tf.zeros_like(right)
    residual = direction = right
    for _ in range(steps):
        image = hvp_back_over_back(direction)
        size = tf.tensordot(residual, residual, 1)
        alpha = size / tf.tensordot(direction, image, 1)
        x = x + alpha * direction
        residual = residual - alpha * image
        direction = residual + tf.tensordot(residual, residual, 1) / size * direction
    return x


for step in range(3):
    with tf.GradientTape() as tape:
        loss = loss_fn()
    gradient = tape.gradient(loss, w)
    print(f"Newton {step}: loss {float(loss):.6f}")
    w.assign_sub(conjugate_gradients(gradient))
print("found:", np.round(w.numpy(), 4).tolist())
