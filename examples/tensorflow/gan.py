"""A GAN's step with two tapes; with --bug, the generator's images are cut off for both players."""

import sys

import tensorflow as tf

BUG = "--bug" in sys.argv
tf.keras.utils.set_random_seed(1)
layers = tf.keras.layers
generator = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(16, "relu"), layers.Dense(2)])
discriminator = tf.keras.Sequential(
    [tf.keras.Input((2,)), layers.Dense(16), layers.LeakyReLU(), layers.Dense(1)]
)
cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
generator_optimizer, discriminator_optimizer = (tf.keras.optimizers.Adam(1e-3) for _ in range(2))


@tf.function
def step(real):
    noise = tf.random.normal([32, 2])
    with tf.GradientTape() as generator_tape, tf.GradientTape() as discriminator_tape:
        fake = generator(noise, training=True)
        if BUG:
            fake = tf.stop_gradient(fake)  # GT124
        real_score = discriminator(real, training=True)
        fake_score = discriminator(fake, training=True)
        generator_loss = cross_entropy(tf.ones_like(fake_score), fake_score)
        discriminator_loss = cross_entropy(tf.ones_like(real_score), real_score)
        discriminator_loss += cross_entropy(tf.zeros_like(fake_score), fake_score)
    grads = generator_tape.gradient(generator_loss, generator.trainable_variables)
    if None not in grads:
        generator_optimizer.apply_gradients(zip(grads, generator.trainable_variables, strict=True))
    grads = discriminator_tape.gradient(discriminator_loss, discriminator.trainable_variables)
    discriminator_optimizer.apply_gradients(
        zip(grads, discriminator.trainable_variables, strict=True)
    )
    return generator_loss, discriminator_loss


for _ in range(5):
    losses = step(tf.random.normal([32, 2], mean=3.0))

print(f"generator {float(losses[0]):.3f}, discriminator {float(losses[1]):.3f}")
