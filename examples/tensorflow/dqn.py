"""Q-learning with a target network; with --bug, the network predicts where it should be called."""

import sys

import numpy as np
import tensorflow as tf

BUG = "--bug" in sys.argv
tf.keras.utils.set_random_seed(1)
rng = np.random.default_rng(0)
layers = tf.keras.layers
network = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(16, "relu"), layers.Dense(2)])
slow = tf.keras.models.clone_model(network)
slow.set_weights(network.get_weights())
optimizer = tf.keras.optimizers.Adam(1e-3)

for _ in range(5):
    states, later_states = rng.normal(size=(2, 32, 4)).astype("float32")
    actions = np.argmax(network.predict(states, verbose=0), axis=1)
    rewards = rng.normal(size=32).astype("float32")
    targets = rewards + 0.99 * tf.reduce_max(slow(later_states), axis=1)
    with tf.GradientTape() as tape:
        values = network.predict_on_batch(states) if BUG else network(states)  # GT110
        chosen = tf.reduce_sum(values * tf.one_hot(actions, 2), axis=1)
        loss = tf.reduce_mean(tf.square(targets - chosen))
    gradients = tape.gradient(loss, network.trainable_variables)
    if None not in gradients:
        optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))

print(f"loss {float(loss):.3f}")
