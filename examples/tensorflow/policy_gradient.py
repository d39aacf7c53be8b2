"""REINFORCE; with --bug, the reward of what was drawn is the loss, and a draw has no slope."""

import sys

import tensorflow as tf

BUG = "--bug" in sys.argv
tf.keras.utils.set_random_seed(1)
layers = tf.keras.layers
policy = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(16, "tanh"), layers.Dense(3)])
optimizer = tf.keras.optimizers.Adam(0.01)
worth = tf.constant([0.0, 0.5, 1.0])

for _ in range(5):
    states = tf.random.normal([64, 4])
    with tf.GradientTape() as tape:
        logits = policy(states)
        actions = tf.random.categorical(logits, 1)[:, 0]  # GT131
        rewards = tf.gather(worth, actions)
        if BUG:
            loss = -tf.reduce_mean(rewards)
        else:
            log_probability = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
            advantage = rewards - tf.reduce_mean(rewards)
            loss = -tf.reduce_mean(log_probability * advantage)
    gradients = tape.gradient(loss, policy.trainable_variables)
    if None not in gradients:
        optimizer.apply_gradients(zip(gradients, policy.trainable_variables, strict=True))

print(f"reward {float(tf.reduce_mean(rewards)):.3f}")
