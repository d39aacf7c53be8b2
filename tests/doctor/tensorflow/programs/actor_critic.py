"""Actor-critic with a shared body: an episode is a tf.while_loop with TensorArrays."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(42)
eps = np.finfo(np.float32).eps.item()
LENGTH = 12


class ActorCritic(tf.keras.Model):
    def __init__(self, num_actions, num_hidden):
        super().__init__()
        self.common = layers.Dense(num_hidden, activation="relu")
        self.actor = layers.Dense(num_actions)
        self.critic = layers.Dense(1)

    def call(self, inputs):
        x = self.common(inputs)
        return self.actor(x), self.critic(x)


# A walker on a line is rewarded for being near to a place that it is told.
def env_step(action: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    move = np.float32(0.25 if action == 1 else -0.25)
    new = np.array([state[0] + move, state[1]], np.float32)
    return new, np.array(-abs(new[0] - new[1]), np.float32)


def tf_env_step(action, state):
    return tf.numpy_function(env_step, [action, state], [tf.float32, tf.float32])


model = ActorCritic(2, 24)
optimizer = tf.keras.optimizers.Adam(0.01)
huber = tf.keras.losses.Huber(reduction="sum")


def run_episode(state):
    probs = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    values = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    rewards = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    shape = state.shape
    for t in tf.range(LENGTH):
        logits, value = model(tf.expand_dims(state, 0))
        action = tf.random.categorical(logits, 1, seed=3)[0, 0]
        probs = probs.write(t, tf.nn.softmax(logits)[0, action])
        values = values.write(t, tf.squeeze(value))
        state, reward = tf_env_step(action, state)
        state.set_shape(shape)
        rewards = rewards.write(t, reward)
    return probs.stack(), values.stack(), rewards.stack()


def expected_return(rewards, gamma=0.9):
    n = tf.shape(rewards)[0]
    returns = tf.TensorArray(tf.float32, size=n)
    running = tf.constant(0.0)
    for i in tf.range(n):
        running = rewards[n - 1 - i] + gamma * running
        running.set_shape([])
        returns = returns.write(n - 1 - i, running)
    returns = returns.stack()
    return (returns - tf.reduce_mean(returns)) / (tf.math.reduce_std(returns) + eps)


@tf.function
def train_step(state):
    with tf.GradientTape() as tape:
        probs, values, rewards = run_episode(state)
        returns = expected_return(rewards)
        probs, values, returns = (tf.expand_dims(x, 1) for x in (probs, values, returns))
        advantage = returns - values
        actor_loss = -tf.reduce_sum(tf.math.log(probs) * tf.stop_gradient(advantage))
        loss = actor_loss + huber(values, returns)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return tf.reduce_sum(rewards), loss


rng = np.random.default_rng(0)
for episode in range(20):
    start = np.array([0.0, rng.choice([-1.5, 1.5])], np.float32)
    reward, loss = train_step(tf.constant(start))
    if episode % 5 == 4:
        print(f"episode {episode + 1}: reward {float(reward):.3f}, loss {float(loss):.4f}")
