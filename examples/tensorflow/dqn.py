"""Deep Q-learning with a target network: walk along a corridor to the goal at its right end."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
CELLS, LEFT, RIGHT, DISCOUNT = 8, 0, 1, 0.9


def q_network():
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [tf.keras.Input((CELLS,)), layers.Dense(32, activation="relu"), layers.Dense(2)]
    )


def walk(cells, actions):
    """Return the next cells, the rewards and whether that was the end."""
    after = np.clip(cells + np.where(actions == RIGHT, 1, -1), 0, CELLS - 1)
    done = (after == CELLS - 1).astype("float32")
    return after, done, done


model, target_model = q_network(), q_network()
target_model.set_weights(model.get_weights())
optimizer = tf.keras.optimizers.Adam(0.01)
huber = tf.keras.losses.Huber()

# The memory: cells and actions at random, and what came of them.
cells, actions = np.random.randint(CELLS - 1, size=2000), np.random.randint(2, size=2000)
after, rewards, done = walk(cells, actions)
states, after_states = np.eye(CELLS, dtype="float32")[cells], np.eye(CELLS, dtype="float32")[after]

for step in range(200):
    batch = np.random.randint(2000, size=64)
    best = target_model.predict_on_batch(after_states[batch]).max(axis=1)
    targets = rewards[batch] + DISCOUNT * (1.0 - done[batch]) * best
    with tf.GradientTape() as tape:
        values = model(states[batch])
        chosen = tf.reduce_sum(values * tf.one_hot(actions[batch], 2), axis=1)
        loss = huber(targets, chosen)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    if step % 10 == 0:
        target_model.set_weights(model.get_weights())

policy = np.argmax(model(np.eye(CELLS, dtype="float32")[:-1]), axis=1)
print("policy " + "".join("<>"[action] for action in policy))
