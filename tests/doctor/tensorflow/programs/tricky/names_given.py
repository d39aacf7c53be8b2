"""Names that TensorFlow and Keras count up."""

import tensorflow as tf

for _ in range(2):
    v = tf.Variable([[1.0]], name="w")
    layer = tf.keras.layers.Dense(1)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(layer(v) * 2.0)
    print(tape.gradient(y, layer.kernel).shape, v.name, layer.name, layer.kernel.path)
model = tf.keras.Sequential([layer, tf.keras.layers.Dense(2)])
model.build((None, 1))
print(model.name, [w.path for w in model.weights], tf.keras.layers.Dense(1).name)


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(1.0, name="inner")


print(Net().name, Net().w.name, Net().name_scope.name)
