"""WGAN-GP as a keras.Model with a train_step of its own and several critic steps."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(30)


class WGAN(keras.Model):
    def __init__(self, critic, generator, latent_dim, critic_steps=3, gp_weight=10.0):
        super().__init__()
        self.critic = critic
        self.generator = generator
        self.latent_dim = latent_dim
        self.critic_steps = critic_steps
        self.gp_weight = gp_weight

    def compile(self, c_optimizer, g_optimizer):
        super().compile()
        self.c_optimizer = c_optimizer
        self.g_optimizer = g_optimizer

    def gradient_penalty(self, batch_size, real, fake):
        alpha = tf.random.uniform([batch_size, 1])
        mixed = real + alpha * (fake - real)
        with tf.GradientTape() as tape:
            tape.watch(mixed)
            score = self.critic(mixed, training=True)
        gradients = tape.gradient(score, [mixed])[0]
        norm = tf.sqrt(tf.reduce_sum(tf.square(gradients), axis=1) + 1e-12)
        return tf.reduce_mean((norm - 1.0) ** 2)

    def train_step(self, real):
        batch_size = tf.shape(real)[0]
        for _ in range(self.critic_steps):
            latent = tf.random.normal([batch_size, self.latent_dim])
            with tf.GradientTape() as tape:
                fake = self.generator(latent, training=True)
                fake_score = self.critic(fake, training=True)
                real_score = self.critic(real, training=True)
                cost = tf.reduce_mean(fake_score) - tf.reduce_mean(real_score)
                penalty = self.gradient_penalty(batch_size, real, fake)
                c_loss = cost + penalty * self.gp_weight
            gradients = tape.gradient(c_loss, self.critic.trainable_variables)
            self.c_optimizer.apply_gradients(zip(gradients, self.critic.trainable_variables))
        latent = tf.random.normal([batch_size, self.latent_dim])
        with tf.GradientTape() as tape:
            score = self.critic(self.generator(latent, training=True), training=True)
            g_loss = -tf.reduce_mean(score)
        gradients = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_optimizer.apply_gradients(zip(gradients, self.generator.trainable_variables))
        return {"c_loss": c_loss, "g_loss": g_loss}


class Monitor(keras.callbacks.Callback):
    def __init__(self, latent_dim):
        super().__init__()
        self.latent = tf.random.normal([256, latent_dim])

    def on_epoch_end(self, epoch, logs=None):
        made = self.model.generator(self.latent).numpy()
        mean, std = made.mean(axis=0).round(4), made.std(axis=0).round(4)
        print(f"  epoch {epoch}: mean {mean}, std {std}")


critic = keras.Sequential(
    [keras.Input((2,)), layers.Dense(24), layers.LeakyReLU(), layers.Dense(24), layers.LeakyReLU(),
     layers.Dense(1)]
)  # fmt: skip
generator = keras.Sequential(
    [keras.Input((3,)), layers.Dense(24, activation="relu"), layers.Dense(2)]
)
wgan = WGAN(critic, generator, latent_dim=3)
wgan.compile(
    keras.optimizers.Adam(2e-3, beta_1=0.5, beta_2=0.9),
    keras.optimizers.Adam(2e-3, beta_1=0.5, beta_2=0.9),
)
real = np.random.multivariate_normal([1, -1], [[0.3, 0.1], [0.1, 0.2]], 320).astype("float32")
wgan.fit(real, batch_size=64, epochs=4, verbose=2, callbacks=[Monitor(3)])
