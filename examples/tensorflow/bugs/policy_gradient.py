"""policy_gradient.py with a bug: the reward of a draw is the loss, and a draw has no derivative."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
SIGNALS = 4

policy = tf.keras.Sequential(
    [
        tf.keras.Input((SIGNALS,)),
        tf.keras.layers.Dense(16, activation="tanh"),
        tf.keras.layers.Dense(SIGNALS),
    ]
)
optimizer = tf.keras.optimizers.Adam(0.03)


def play(signals, actions):
    """Return the rewards: the right answer to a signal is the one after it."""
    return tf.cast(actions == (signals + 1) % SIGNALS, tf.float32)


def train_step():
    signals = tf.random.uniform([64], maxval=SIGNALS, dtype=tf.int64)
    with tf.GradientTape() as tape:
        logits = policy(tf.one_hot(signals, SIGNALS))
        actions = tf.random.categorical(logits, 1)[:, 0]  # bug: sampling-op
        rewards = play(signals, actions)
        loss = -tf.reduce_mean(rewards)
    gradients = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(gradients, policy.trainable_variables, strict=True))
    return tf.reduce_mean(rewards)


rewards = [float(train_step()) for _ in range(100)]
print(f"mean reward {rewards[0]:.2f} at first, {sum(rewards[-10:]) / 10:.2f} at last")
