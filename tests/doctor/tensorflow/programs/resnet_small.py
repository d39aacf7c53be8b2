"""A residual network of basic blocks in a custom loop, with weight decay and a cosine schedule."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(18)


class BasicBlock(layers.Layer):
    def __init__(self, filters, stride=1):
        super().__init__()
        self.conv1 = layers.Conv2D(filters, 3, stride, padding="same", use_bias=False)
        self.bn1 = layers.BatchNormalization()
        self.conv2 = layers.Conv2D(filters, 3, padding="same", use_bias=False)
        self.bn2 = layers.BatchNormalization()
        self.shortcut = None
        if stride != 1:
            self.shortcut = keras.Sequential(
                [layers.Conv2D(filters, 1, stride, use_bias=False), layers.BatchNormalization()]
            )

    def call(self, x, training=False):
        out = tf.nn.relu(self.bn1(self.conv1(x), training=training))
        out = self.bn2(self.conv2(out), training=training)
        skip = x if self.shortcut is None else self.shortcut(x, training=training)
        return tf.nn.relu(out + skip)


class ResNet(keras.Model):
    def __init__(self, blocks, classes):
        super().__init__()
        self.stem = layers.Conv2D(8, 3, padding="same", use_bias=False)
        self.bn = layers.BatchNormalization()
        self.stages = []
        for stage, count in enumerate(blocks):
            for k in range(count):
                self.stages.append(BasicBlock(8 * 2**stage, 2 if stage and k == 0 else 1))
        self.pool = layers.GlobalAveragePooling2D()
        self.head = layers.Dense(classes)

    def call(self, x, training=False):
        x = tf.nn.relu(self.bn(self.stem(x), training=training))
        for block in self.stages:
            x = block(x, training=training)
        return self.head(self.pool(x))


rng = np.random.default_rng(1)
labels = rng.integers(0, 3, size=96)
images = rng.normal(scale=0.5, size=(96, 12, 12, 3)).astype("float32")
images[np.arange(96), :, :, labels] += 0.8

model = ResNet([2, 2], classes=3)
schedule = keras.optimizers.schedules.CosineDecay(0.05, decay_steps=18)
optimizer = keras.optimizers.SGD(schedule, momentum=0.9, nesterov=True)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_acc = keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        kernels = [v for v in model.trainable_variables if "kernel" in v.name]
        decay = tf.add_n([tf.nn.l2_loss(v) for v in kernels])
        loss = loss_fn(y, logits) + 1e-4 * decay
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_acc.update_state(y, logits)
    return loss


dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(96, seed=7).batch(16)
for epoch in range(3):
    train_acc.reset_state()
    for step, (x, y) in enumerate(dataset):
        loss = train_step(x, y)
    rate = float(schedule(optimizer.iterations))
    print(f"epoch {epoch}: loss {loss:.6f}, accuracy {train_acc.result():.4f}, rate {rate:.5f}")
print(len(model.trainable_variables), "variables,", f"{model.count_params()} parameters")
