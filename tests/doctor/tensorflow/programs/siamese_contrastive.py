"""A Siamese network: two inputs, shared weights, a distance, and a contrastive loss."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, ops

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)

prototypes = rng.uniform(size=(4, 8, 8, 1))


def samples(count):
    labels = rng.integers(0, 4, size=count)
    return (prototypes[labels] + 0.1 * rng.normal(size=(count, 8, 8, 1))).astype("float32"), labels


def make_pairs(x, y):
    digit_indices = [np.where(y == i)[0] for i in range(4)]
    pairs, labels = [], []
    for k in range(len(x)):
        for same in (True, False):
            other = y[k] if same else (y[k] + rng.integers(1, 4)) % 4
            pairs.append([x[k], x[rng.choice(digit_indices[other])]])
            labels.append(0 if same else 1)
    return np.array(pairs), np.array(labels).astype("float32")


pairs_train, labels_train = make_pairs(*samples(96))
pairs_val, labels_val = make_pairs(*samples(48))

inputs = layers.Input((8, 8, 1))
x = layers.BatchNormalization()(inputs)
x = layers.Conv2D(4, (3, 3), activation="tanh")(x)
x = layers.AveragePooling2D(pool_size=(2, 2))(x)
x = layers.Flatten()(x)
x = layers.Dense(6, activation="tanh")(x)
embedding_network = keras.Model(inputs, x)


def euclidean_distance(vectors):
    a, b = vectors
    sum_square = ops.sum(ops.square(a - b), axis=1, keepdims=True)
    return ops.sqrt(ops.maximum(sum_square, keras.backend.epsilon()))


def contrastive(margin=1.0):
    def contrastive_loss(y_true, y_pred):
        square_pred = ops.square(y_pred)
        margin_square = ops.square(ops.maximum(margin - y_pred, 0))
        return ops.mean((1 - y_true) * square_pred + y_true * margin_square)

    return contrastive_loss


input_1, input_2 = layers.Input((8, 8, 1)), layers.Input((8, 8, 1))
tower_1, tower_2 = embedding_network(input_1), embedding_network(input_2)
merge_layer = layers.Lambda(euclidean_distance, output_shape=(1,))([tower_1, tower_2])
normal_layer = layers.BatchNormalization()(merge_layer)
output_layer = layers.Dense(1, activation="sigmoid")(normal_layer)
siamese = keras.Model(inputs=[input_1, input_2], outputs=output_layer)
siamese.compile(loss=contrastive(1), optimizer="RMSprop", metrics=["accuracy"])
siamese.summary(line_length=80)

history = siamese.fit(
    [pairs_train[:, 0], pairs_train[:, 1]],
    labels_train,
    validation_data=([pairs_val[:, 0], pairs_val[:, 1]], labels_val),
    batch_size=16,
    epochs=4,
    verbose=2,
)
results = siamese.evaluate([pairs_val[:, 0], pairs_val[:, 1]], labels_val, verbose=0)
print("test loss, test acc:", [f"{r:.5f}" for r in results])
predictions = siamese.predict([pairs_val[:4, 0], pairs_val[:4, 1]], verbose=0)
print(predictions.ravel().round(4), tf.constant(labels_val[:4]).numpy())
