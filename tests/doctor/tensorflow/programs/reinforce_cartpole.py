"""REINFORCE on a pole that is balanced: the physics is in this file."""

import numpy as np
import tensorflow as tf

SEED = 1
rng = np.random.default_rng(SEED)
tf.keras.utils.set_random_seed(SEED)


class CartPole:
    """The usual equations of motion, by Euler's method."""

    def reset(self):
        self.state = rng.uniform(-0.05, 0.05, size=4)
        self.steps = 0
        return self.state.astype("float32")

    def step(self, action):
        x, v, angle, spin = self.state
        force = 10.0 if action == 1 else -10.0
        sin, cos = np.sin(angle), np.cos(angle)
        temp = (force + 0.05 * spin**2 * sin) / 1.1
        acceleration = (9.8 * sin - cos * temp) / (0.5 * (4.0 / 3.0 - 0.1 * cos**2 / 1.1))
        push = temp - 0.05 * acceleration * cos / 1.1
        self.state = np.array(
            [x + 0.02 * v, v + 0.02 * push, angle + 0.02 * spin, spin + 0.02 * acceleration]
        )
        self.steps += 1
        done = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.2095 or self.steps >= 60)
        return self.state.astype("float32"), 1.0, done


policy = tf.keras.Sequential(
    [
        tf.keras.Input((4,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(2),
    ]
)
optimizer = tf.keras.optimizers.Adam(0.02)


def play(env):
    observations, actions, rewards = [], [], []
    state, done = env.reset(), False
    while not done:
        probabilities = tf.nn.softmax(policy(state[None]))[0].numpy()
        action = int(rng.random() < probabilities[1])
        observations.append(state)
        actions.append(action)
        state, reward, done = env.step(action)
        rewards.append(reward)
    return np.array(observations), np.array(actions), rewards


def discounted(rewards, gamma=0.98):
    returns, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + gamma * running
        returns.insert(0, running)
    returns = np.array(returns, dtype="float32")
    return (returns - returns.mean()) / (returns.std() + 1e-8)


env = CartPole()
lengths = []
for episode in range(25):
    observations, actions, rewards = play(env)
    returns = discounted(rewards)
    with tf.GradientTape() as tape:
        logits = policy(observations, training=True)
        neg_log_prob = tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        loss = tf.reduce_mean(neg_log_prob * returns)
    gradients = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(gradients, policy.trainable_variables))
    lengths.append(len(rewards))
    if (episode + 1) % 5 == 0:
        mean = np.mean(lengths[-5:])
        print(f"episode {episode + 1}: loss {float(loss):+.5f}, mean length {mean}")
