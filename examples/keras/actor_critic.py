"""Actor and critic learn to balance a pole: the episode runs inside the compiled step."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
MAX_STEPS, GAMMA = 20, 0.95


class Pole:
    """A pole on a hinge that is pushed left or right; an episode ends when it has fallen."""

    def reset(self):
        self.state = rng.uniform(-0.05, 0.05, 2).astype("float32")
        return self.state

    def step(self, action):
        angle, speed = self.state
        speed += 0.1 * (4.0 * np.sin(angle) + (2.0 if action == 1 else -2.0))
        angle += 0.1 * speed
        self.state = np.array([angle, speed], "float32")
        return self.state, np.float32(1.0), np.bool_(abs(angle) > 0.4)


class ActorCritic(keras.Model):
    def __init__(self, actions, units):
        super().__init__()
        self.common = layers.Dense(units, activation="relu")
        self.actor, self.critic = layers.Dense(actions), layers.Dense(1)

    def call(self, state):
        x = self.common(state)
        return self.actor(x), self.critic(x)


pole, model = Pole(), ActorCritic(2, 32)
optimizer = keras.optimizers.Adam(0.02)
huber = keras.losses.Huber(reduction="sum")


def run_episode(state):
    """Return log probabilities of the actions taken, the critic's values, and the rewards."""
    log_probs = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    values = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    rewards = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for t in tf.range(MAX_STEPS):
        logits, value = model(state[None])
        action = tf.random.categorical(logits, 1)[0, 0]
        log_probs = log_probs.write(t, tf.nn.log_softmax(logits)[0, action])
        values = values.write(t, value[0, 0])
        state, reward, done = tf.numpy_function(
            pole.step, [action], [tf.float32, tf.float32, tf.bool]
        )
        state.set_shape([2])
        reward.set_shape([])
        rewards = rewards.write(t, reward)
        if done:
            break
    return log_probs.stack(), values.stack(), rewards.stack()


def expected_returns(rewards):
    discounted = tf.scan(lambda later, r: r + GAMMA * later, rewards[::-1], 0.0)[::-1]
    return (discounted - tf.reduce_mean(discounted)) / (tf.math.reduce_std(discounted) + 1e-6)


@tf.function
def train_step(state):
    with tf.GradientTape() as tape:
        log_probs, values, rewards = run_episode(state)
        returns = expected_returns(rewards)
        advantages = tf.stop_gradient(returns - values)
        loss = huber(returns[:, None], values[:, None]) - tf.reduce_sum(log_probs * advantages)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss, tf.reduce_sum(rewards)


lasted = []
for episode in range(1, 41):
    loss, steps = train_step(tf.constant(pole.reset()))
    lasted.append(float(steps))
    if episode % 10 == 0:
        print(f"episode {episode}   loss {loss:.6f}   mean steps {np.mean(lasted[-10:]):.1f}")
