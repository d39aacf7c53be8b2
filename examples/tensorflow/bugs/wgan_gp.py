"""wgan_gp.py with a bug: where all units are off, the derivative is 0, and its norm has none."""

import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(4)

generator = tf.keras.Sequential(
    [tf.keras.Input((2,)), layers.Dense(16, activation="relu"), layers.Dense(2)]
)
critic = tf.keras.Sequential(
    [tf.keras.Input((2,)), layers.Dense(6, activation="relu"), layers.Dense(1)]
)
generator_optimizer = tf.keras.optimizers.Adam(0.01, beta_1=0.5)
critic_optimizer = tf.keras.optimizers.Adam(0.01, beta_1=0.5)
CENTRE = tf.constant([1.5, 0.5])


def gradient_penalty(real, fake):
    share = tf.random.uniform([64, 1])
    between = share * real + (1.0 - share) * fake
    with tf.GradientTape() as tape:
        tape.watch(between)
        scores = critic(between)
    derivatives = tape.gradient(scores, between)
    steepness = tf.norm(derivatives, axis=1)  # bug: norm-at-zero
    return tf.reduce_mean(tf.square(steepness - 1.0))


@tf.function
def train_critic(real):
    fake = generator(tf.random.normal([64, 2]))
    with tf.GradientTape() as tape:
        distance = tf.reduce_mean(critic(real)) - tf.reduce_mean(critic(fake))
        loss = 10.0 * gradient_penalty(real, fake) - distance
    gradients = tape.gradient(loss, critic.trainable_variables)
    critic_optimizer.apply_gradients(zip(gradients, critic.trainable_variables, strict=True))


@tf.function
def train_generator():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(generator(tf.random.normal([64, 2]))))
    gradients = tape.gradient(loss, generator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients, generator.trainable_variables, strict=True))


for _ in range(50):
    for _ in range(2):
        train_critic(CENTRE + 0.2 * tf.random.normal([64, 2]))
    train_generator()

x, y = tf.reduce_mean(generator(tf.random.normal([1000, 2])), axis=0).numpy()
print(f"real points lie around (1.5, 0.5), generated ones around ({x:.1f}, {y:.1f})")
