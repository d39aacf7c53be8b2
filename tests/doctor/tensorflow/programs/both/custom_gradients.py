"""Functions with gradients of one's own: stable, reversed, clipped, and some computed again."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(24)


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(upstream):
        return upstream * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), grad


@tf.custom_gradient
def reverse_gradient(x):
    """As in domain adaptation: the identity, with the gradient's sign turned around."""

    def grad(upstream):
        return -0.5 * upstream

    return tf.identity(x), grad


@tf.custom_gradient
def clip_gradients(y):
    def backward(dy):
        return tf.clip_by_norm(dy, 0.5)

    return tf.identity(y), backward


@tf.custom_gradient
def straight_through_sign(x):
    def grad(upstream):
        return tf.where(tf.abs(x) <= 1.0, upstream, tf.zeros_like(upstream))

    return tf.where(x >= 0, tf.ones_like(x), -tf.ones_like(x)), grad


x = tf.constant([-1.0, 0.0, 20.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = log1pexp(x)
print("log1pexp", np.round(y.numpy(), 4), np.round(tape.gradient(y, x).numpy(), 4))

v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    output = clip_gradients(v * v)
print("clipped:", tape.gradient(output, v).numpy())

# Features that a second head must not be able to use.
data = tf.constant(rng.normal(size=(64, 4)), tf.float32)
labels, domain = data[:, :1] - data[:, 1:2], tf.cast(data[:, 2:3] > 0, tf.float32)
body = tf.Variable(0.4 * rng.normal(size=(4, 6)).astype("float32"))
head = tf.Variable(0.4 * rng.normal(size=(6, 1)).astype("float32"))
critic = tf.Variable(0.4 * rng.normal(size=(6, 1)).astype("float32"))
for step in range(31):
    with tf.GradientTape() as tape:
        features = tf.nn.elu(data @ body)
        task_loss = tf.reduce_mean((features @ head - labels) ** 2)
        guess = reverse_gradient(features) @ critic
        domain_loss = tf.reduce_mean(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=domain, logits=guess)
        )
        loss = task_loss + domain_loss
    for var, g in zip([body, head, critic], tape.gradient(loss, [body, head, critic])):
        var.assign_sub(0.1 * g)
    if step % 10 == 0:
        print(f"step {step}: task {float(task_loss):.4f}, domain {float(domain_loss):.4f}")

# Binary weights that are trained straight through.
w = tf.Variable(0.1 * rng.normal(size=(4, 1)).astype("float32"))
for _ in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((data @ straight_through_sign(w) - labels) ** 2)
    w.assign_sub(0.02 * tape.gradient(loss, w))
print("signs:", np.sign(w.numpy().ravel()).tolist()[:2])

# Less memory for more time: the forward pass is computed again.
block = tf.recompute_grad(lambda h: tf.tanh(h @ body) @ tf.transpose(body))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(block(block(data)) ** 2)
print("recomputed norm", f"{float(tf.norm(tape.gradient(loss, body))):.2f}")
