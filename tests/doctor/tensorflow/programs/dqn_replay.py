"""Deep Q-learning on a small grid world: a replay buffer, a target network, epsilon-greedy play."""

import random
from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow import keras

random.seed(0)
keras.utils.set_random_seed(0)

SIZE, GOAL = 4, (3, 3)
MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]


def observe(position):
    grid = np.zeros((SIZE, SIZE), np.float32)
    grid[position] = 1.0
    return grid.ravel()


def step(position, action):
    row, column = (p + m for p, m in zip(position, MOVES[action]))
    if not (0 <= row < SIZE and 0 <= column < SIZE):
        return position, -0.2, False
    return (row, column), (1.0 if (row, column) == GOAL else -0.05), (row, column) == GOAL


def make_q_model():
    return keras.Sequential(
        [
            keras.Input((SIZE * SIZE,)),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(len(MOVES), activation="linear"),
        ]
    )


model, target = make_q_model(), make_q_model()
target.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(0.005, clipnorm=1.0)
huber = keras.losses.Huber()
memory = deque(maxlen=500)
epsilon, frames, losses = 1.0, 0, []

for episode in range(12):
    position, total = (0, 0), 0.0
    for _ in range(25):
        frames += 1
        if random.random() < epsilon:
            action = random.randrange(len(MOVES))
        else:
            action = int(tf.argmax(model(observe(position)[None], training=False)[0]))
        epsilon = max(0.1, epsilon * 0.98)
        following, reward, done = step(position, action)
        memory.append((observe(position), action, reward, observe(following), done))
        position, total = following, total + reward
        if len(memory) >= 32 and frames % 4 == 0:
            batch = random.sample(memory, 32)
            states, actions, rewards, nexts, dones = map(np.array, zip(*batch))
            future = target(nexts).numpy().max(axis=1)
            goals = (rewards + 0.95 * future * (1 - dones)).astype("float32")
            masks = tf.one_hot(actions, len(MOVES))
            with tf.GradientTape() as tape:
                q_values = model(states)
                q_action = tf.reduce_sum(tf.multiply(q_values, masks), axis=1)
                loss = huber(goals, q_action)
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
            losses.append(float(loss))
        if frames % 40 == 0:
            target.set_weights(model.get_weights())
        if done:
            break
    print(f"episode {episode}: return {total:.2f}, epsilon {epsilon:.3f}, updates {len(losses)}")
print(f"mean loss of the last ten updates: {np.mean(losses[-10:]):.6f}")
