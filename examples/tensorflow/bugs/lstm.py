"""lstm.py with a bug: the forget gates start closed, and the beginning is forgotten."""

import tensorflow as tf

tf.random.set_seed(0)
UNITS, STEPS = 16, 20


def weights(*shape):
    return tf.Variable(tf.random.normal(shape, stddev=shape[0] ** -0.5))


first, enter, again, out = (
    weights(4, UNITS),
    weights(1, 4 * UNITS),
    weights(UNITS, 4 * UNITS),
    weights(UNITS, 4),
)
bias = tf.Variable(tf.repeat([0.0, -5.0, 0.0, 0.0], UNITS))
variables = [first, enter, again, bias, out]
optimizer = tf.keras.optimizers.Adam(0.05)


def lstm(cell, sequence):
    state = tf.tanh(cell)
    for t in range(STEPS):
        gates = sequence[:, t] @ enter + state @ again + bias  # bug: vanishing-recurrence
        write, keep, read, new = tf.split(gates, 4, axis=1)
        cell = tf.sigmoid(keep) * cell  # bug: vanishing-recurrence
        cell += tf.sigmoid(write) * tf.tanh(new)
        state = tf.sigmoid(read) * tf.tanh(cell)
    return state


@tf.function
def train_step(labels, noise):
    with tf.GradientTape() as tape:
        logits = lstm(tf.one_hot(labels, 4) @ first, noise) @ out
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables, strict=True))
    hits = tf.argmax(logits, axis=1, output_type=tf.int32) == labels
    return tf.reduce_mean(tf.cast(hits, tf.float32))


for _ in range(60):
    labels = tf.random.uniform([32], maxval=4, dtype=tf.int32)
    accuracy = train_step(labels, 0.1 * tf.random.normal([32, STEPS, 1]))
print(f"accuracy after {STEPS} steps of noise: {float(accuracy):.2f}")
