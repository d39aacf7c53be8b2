"""PPO with a clipped ratio and generalized advantages, on a pendulum-like toy."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(12)
keras.utils.set_random_seed(12)

gamma, lam, clip_ratio, target_kl = 0.95, 0.9, 0.2, 0.05
train_iterations, steps_per_epoch = 8, 96


def mlp(sizes):
    inputs = keras.Input((2,))
    x = inputs
    for size in sizes[:-1]:
        x = keras.layers.Dense(size, activation="tanh")(x)
    return keras.Model(inputs, keras.layers.Dense(sizes[-1])(x))


actor, critic = mlp([24, 2]), mlp([24, 1])
policy_optimizer = keras.optimizers.Adam(3e-3)
value_optimizer = keras.optimizers.Adam(1e-2)


def logprobabilities(logits, a):
    return tf.reduce_sum(tf.one_hot(a, 2) * tf.nn.log_softmax(logits), axis=1)


@tf.function
def train_policy(observations, actions, old_logp, advantages):
    with tf.GradientTape() as tape:
        ratio = tf.exp(logprobabilities(actor(observations), actions) - old_logp)
        limit = tf.where(
            advantages > 0, (1 + clip_ratio) * advantages, (1 - clip_ratio) * advantages
        )
        loss = -tf.reduce_mean(tf.minimum(ratio * advantages, limit))
    grads = tape.gradient(loss, actor.trainable_variables)
    policy_optimizer.apply_gradients(zip(grads, actor.trainable_variables))
    return tf.reduce_mean(old_logp - logprobabilities(actor(observations), actions))


@tf.function
def train_value(observations, returns):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((returns - tf.squeeze(critic(observations), 1)) ** 2)
    grads = tape.gradient(loss, critic.trainable_variables)
    value_optimizer.apply_gradients(zip(grads, critic.trainable_variables))
    return loss


def advance(state, action):
    angle, spin = state
    spin = 0.9 * spin + 0.2 * np.sin(angle) + (0.25 if action else -0.25)
    angle = angle + 0.3 * spin
    return np.array([angle, spin], "float32"), float(np.cos(angle))


def discounted(values, factor):
    out, running = np.zeros(len(values), "float32"), 0.0
    for k in reversed(range(len(values))):
        running = out[k] = values[k] + factor * running
    return out


for epoch in range(4):
    states, actions, rewards, logps = [], [], [], []
    state = np.array([rng.uniform(-0.5, 0.5), 0.0], "float32")
    for _ in range(steps_per_epoch):
        logits = actor(state[None])
        action = int(rng.random() < tf.nn.softmax(logits)[0, 1].numpy())
        states.append(state)
        actions.append(action)
        logps.append(logprobabilities(logits, [action])[0].numpy())
        state, reward = advance(state, action)
        rewards.append(reward)
    states = np.array(states)
    values = np.append(critic(states).numpy()[:, 0], 0.0)
    deltas = np.array(rewards) + gamma * values[1:] - values[:-1]
    advantages = discounted(deltas, gamma * lam)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-10)
    returns = discounted(rewards, gamma)
    for iteration in range(train_iterations):
        kl = train_policy(states, np.array(actions), np.array(logps, "float32"), advantages)
        if kl > 1.5 * target_kl:
            break
    for _ in range(train_iterations):
        value_loss = train_value(states, returns)
    print(
        f"epoch {epoch + 1}: mean reward {np.mean(rewards):.4f}, {iteration + 1} policy updates, "
        f"kl {float(kl):.5f}, value loss {float(value_loss):.4f}"
    )
