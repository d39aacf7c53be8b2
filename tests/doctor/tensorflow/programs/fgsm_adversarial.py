"""Adversarial examples by the fast gradient sign method, then training against them."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(64)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

centers = np.random.normal(size=(3, 16)).astype("float32")
labels = np.random.randint(0, 3, size=240)
x = centers[labels] + 0.4 * np.random.normal(size=(240, 16)).astype("float32")


def make_model():
    return tf.keras.Sequential(
        [
            tf.keras.Input((16,)),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(3),
        ]
    )


def create_adversarial_pattern(model, inputs, input_label):
    inputs = tf.convert_to_tensor(inputs)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        prediction = model(inputs)
        loss = loss_object(input_label, prediction)
    gradient = tape.gradient(loss, inputs)
    return tf.sign(gradient)


def accuracy(model, inputs):
    return float(tf.reduce_mean(tf.cast(tf.argmax(model(inputs), axis=1) == labels, tf.float32)))


plain = make_model()
plain.compile("adam", loss_object)
plain.fit(x, labels, epochs=4, batch_size=24, verbose=0)
perturbations = create_adversarial_pattern(plain, x, labels)
for eps in [0, 0.1, 0.3, 0.6]:
    print(f"Epsilon = {eps:.3f}: accuracy {accuracy(plain, x + eps * perturbations):.4f}")

robust = make_model()
optimizer = tf.keras.optimizers.Adam(0.005)
dataset = tf.data.Dataset.from_tensor_slices((x, labels)).batch(24)


@tf.function
def adversarial_step(inputs, targets, eps):
    pattern = create_adversarial_pattern(robust, inputs, targets)
    with tf.GradientTape() as tape:
        clean = loss_object(targets, robust(inputs, training=True))
        attacked = loss_object(targets, robust(inputs + eps * pattern, training=True))
        loss = 0.5 * (clean + attacked)
    gradients = tape.gradient(loss, robust.trainable_variables)
    optimizer.apply_gradients(zip(gradients, robust.trainable_variables))
    return clean, attacked


for epoch in range(4):
    clean_mean, attacked_mean = tf.keras.metrics.Mean(), tf.keras.metrics.Mean()
    for batch in dataset:
        clean, attacked = adversarial_step(*batch, tf.constant(0.3))
        clean_mean(clean)
        attacked_mean(attacked)
    print(f"epoch {epoch}: {clean_mean.result():.5f} clean, {attacked_mean.result():.5f} attacked")
pattern = create_adversarial_pattern(robust, x, labels)
print(f"robust under attack: {accuracy(robust, x + 0.3 * pattern):.4f}")
