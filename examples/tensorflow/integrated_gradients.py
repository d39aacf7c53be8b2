"""What a prediction rests on; with --bug, the class is differentiated and not its score."""

import sys

import tensorflow as tf

BUG = "--bug" in sys.argv
tf.keras.utils.set_random_seed(1)
layers = tf.keras.layers
model = tf.keras.Sequential(
    [tf.keras.Input((5,)), layers.Dense(16, "relu"), layers.Dense(3, "softmax")]
)
picture, baseline = tf.random.normal([5]), tf.zeros([5])
shares = tf.linspace(0.0, 1.0, 33)[:, tf.newaxis]
between = baseline + shares * (picture - baseline)

with tf.GradientTape() as tape:
    tape.watch(between)
    scores = model(between)
    if BUG:
        wanted = tf.argmax(scores, axis=1)  # GT125
    else:
        wanted = scores[:, 1]
slopes = tape.gradient(wanted, between)

if slopes is not None:
    mean = tf.reduce_mean((slopes[:-1] + slopes[1:]) / 2.0, axis=0)
    parts = (picture - baseline) * mean
    print("parts", [round(float(p), 3) for p in parts], "sum", round(float(sum(parts)), 3))
