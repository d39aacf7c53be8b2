"""A recurrent network by hand: tf.while_loop, tf.scan and a TensorArray give the same."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(16)
BATCH, TIME, UNITS = 16, 12, 8

inputs = tf.constant(rng.normal(size=(TIME, BATCH, 1)), tf.float32)
targets = tf.cumsum(inputs, axis=0)[-1] * 0.3

wx = tf.Variable(0.5 * rng.normal(size=(1, UNITS)).astype("float32"))
wh = tf.Variable(0.3 * rng.normal(size=(UNITS, UNITS)).astype("float32"))
b = tf.Variable(np.zeros(UNITS, "float32"))
wo = tf.Variable(0.5 * rng.normal(size=(UNITS, 1)).astype("float32"))
weights = [wx, wh, b, wo]


def cell(state, x):
    return tf.tanh(x @ wx + state @ wh + b)


def by_while_loop(xs):
    zero = tf.zeros([BATCH, UNITS])

    def body(t, state):
        return t + 1, cell(state, xs[t])

    _, state = tf.while_loop(lambda t, state: t < TIME, body, [tf.constant(0), zero])
    return state


def by_scan(xs):
    return tf.scan(cell, xs, initializer=tf.zeros([BATCH, UNITS]))[-1]


def by_tensor_array(xs):
    states = tf.TensorArray(tf.float32, size=TIME)
    state = tf.zeros([BATCH, UNITS])
    for t in range(TIME):
        state = cell(state, xs[t])
        states = states.write(t, state)
    return states.stack()[-1]


def loss_of(run):
    return tf.reduce_mean((run(inputs) @ wo - targets) ** 2)


first = None
for run in (by_while_loop, by_scan, by_tensor_array):
    with tf.GradientTape() as tape:
        loss = loss_of(run)
    gradients = tape.gradient(loss, weights)
    first = first or gradients
    same = all(np.allclose(g, f, atol=1e-5) for g, f in zip(gradients, first))
    print(run.__name__, f"loss {float(loss):.4f}", "same gradients:", same)

compiled = tf.function(lambda: loss_of(by_while_loop))
for step in range(41):
    with tf.GradientTape() as tape:
        loss = compiled()
    gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, weights), 1.0)
    for v, g in zip(weights, gradients):
        v.assign_sub(0.2 * g)
    if step % 10 == 0:
        print(f"step {step:2d}: loss {float(loss):.3f}")

powers = tf.map_fn(lambda x: x**2, tf.range(4.0))
total = tf.foldl(lambda a, x: a + x, powers)
print("map and fold:", powers.numpy(), float(total))
