"""Metric learning with triplets: a distance layer, a model around a Siamese network, test_step."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import Model, layers, metrics

keras.utils.set_random_seed(52)
rng = np.random.default_rng(52)


def triplets(count):
    centers = rng.normal(size=(5, 12))
    a = rng.integers(0, 5, size=count)
    n = (a + rng.integers(1, 5, size=count)) % 5
    noise = 0.7 * rng.normal(size=(3, count, 12))
    return tuple((centers[c] + e).astype("float32") for c, e in zip((a, a, n), noise))


dataset = tf.data.Dataset.from_tensor_slices(triplets(192))
train_dataset = dataset.take(160).batch(32, drop_remainder=False).prefetch(8)
val_dataset = dataset.skip(160).batch(32)

embedding = keras.Sequential(
    [keras.Input((12,)), layers.Dense(24, activation="relu"), layers.Dense(6)], name="Embedding"
)


class DistanceLayer(layers.Layer):
    """The squared distances from the anchor to the positive and to the negative one."""

    def call(self, anchor, positive, negative):
        ap_distance = tf.reduce_sum(tf.square(anchor - positive), -1)
        an_distance = tf.reduce_sum(tf.square(anchor - negative), -1)
        return ap_distance, an_distance


anchor_input = layers.Input(name="anchor", shape=(12,))
positive_input = layers.Input(name="positive", shape=(12,))
negative_input = layers.Input(name="negative", shape=(12,))
distances = DistanceLayer()(
    embedding(anchor_input), embedding(positive_input), embedding(negative_input)
)
siamese_network = Model([anchor_input, positive_input, negative_input], distances)


class SiameseModel(Model):
    def __init__(self, siamese_network, margin=0.5):
        super().__init__()
        self.siamese_network = siamese_network
        self.margin = margin
        self.loss_tracker = metrics.Mean(name="loss")

    def call(self, inputs):
        return self.siamese_network(inputs)

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self._compute_loss(data)
        gradients = tape.gradient(loss, self.siamese_network.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.siamese_network.trainable_weights))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    def test_step(self, data):
        self.loss_tracker.update_state(self._compute_loss(data))
        return {"loss": self.loss_tracker.result()}

    def _compute_loss(self, data):
        ap_distance, an_distance = self.siamese_network(data)
        return tf.maximum(ap_distance - an_distance + self.margin, 0.0)

    @property
    def metrics(self):
        return [self.loss_tracker]


siamese_model = SiameseModel(siamese_network)
siamese_model.compile(optimizer=keras.optimizers.Adam(0.003))
siamese_model.fit(train_dataset, epochs=4, validation_data=val_dataset, verbose=2)

anchor, positive, negative = next(iter(val_dataset))
cosine = metrics.CosineSimilarity()
positive_similarity = cosine(embedding(anchor), embedding(positive))
print(f"Positive similarity: {float(positive_similarity):.5f}")
cosine.reset_state()
negative_similarity = cosine(embedding(anchor), embedding(negative))
print(f"Negative similarity: {float(negative_similarity):.5f}")
