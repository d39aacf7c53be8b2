"""A generative adversarial network: one compiled step, two networks, two tapes."""

import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)

generator = tf.keras.Sequential(
    [tf.keras.Input((4,)), layers.Dense(16, activation="relu"), layers.Dense(2)]
)
judge = tf.keras.Sequential(
    [tf.keras.Input((2,)), layers.Dense(32), layers.LeakyReLU(0.2), layers.Dense(1)]
)
generator_optimizer = tf.keras.optimizers.Adam(0.005, beta_1=0.5)
judge_optimizer = tf.keras.optimizers.Adam(0.005, beta_1=0.5)
cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
CENTRE = tf.constant([2.0, -1.0])


@tf.function
def train_step(real):
    noise = tf.random.normal([64, 4])
    with tf.GradientTape() as generator_tape, tf.GradientTape() as judge_tape:
        fake = generator(noise, training=True)
        on_real = judge(real, training=True)
        on_fake = judge(fake, training=True)
        generator_loss = cross_entropy(tf.ones_like(on_fake), on_fake)
        judge_loss = cross_entropy(tf.ones_like(on_real), on_real)
        judge_loss += cross_entropy(tf.zeros_like(on_fake), on_fake)

    gradients = generator_tape.gradient(generator_loss, generator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients, generator.trainable_variables, strict=True))
    gradients = judge_tape.gradient(judge_loss, judge.trainable_variables)
    judge_optimizer.apply_gradients(zip(gradients, judge.trainable_variables, strict=True))


for _ in range(300):
    train_step(CENTRE + 0.3 * tf.random.normal([64, 2]))

x, y = tf.reduce_mean(generator(tf.random.normal([1000, 4])), axis=0).numpy()
print(f"real points lie around (2.0, -1.0), generated ones around ({x:.1f}, {y:.1f})")
