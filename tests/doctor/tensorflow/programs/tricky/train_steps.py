"""A `train_step` of the program's own, with what it counts in Python."""

import tensorflow as tf

traces = []


class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        traces.append(type(data).__name__)
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


tf.keras.utils.set_random_seed(1)
model = Model()
model.compile(tf.keras.optimizers.SGD(0.1))
x = tf.random.normal([12, 2])
history = model.fit(x, x[:, :1] - x[:, 1:], epochs=3, batch_size=4, shuffle=False, verbose=0)
print(len(traces), history.history["loss"], model.dense.kernel.numpy().tobytes().hex())
