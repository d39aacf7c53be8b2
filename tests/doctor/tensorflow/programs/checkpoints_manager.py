"""tf.train.Checkpoint and CheckpointManager: train, break off, restore, go on as if nothing was."""

import os

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(14)


class Net(tf.keras.Model):
    """A simple linear model."""

    def __init__(self):
        super().__init__()
        self.l1 = tf.keras.layers.Dense(5)

    def call(self, x):
        return self.l1(x)


def toy_dataset():
    inputs = tf.range(10.0)[:, None] / 10
    labels = inputs * 5.0 + tf.range(5.0)[None, :]
    options = tf.data.Options()
    # How many are fetched ahead, which a checkpoint tells, would depend on the machine.
    options.experimental_optimization.inject_prefetch = False
    dataset = tf.data.Dataset.from_tensor_slices(dict(x=inputs, y=labels))
    return dataset.repeat().batch(2).with_options(options)


def train_step(net, example, optimizer):
    with tf.GradientTape() as tape:
        output = net(example["x"])
        loss = tf.reduce_mean(tf.abs(output - example["y"]))
    variables = net.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss


def train_and_checkpoint(steps):
    net, optimizer = Net(), tf.keras.optimizers.Adam(0.1)
    net.build((None, 1))
    iterator = iter(toy_dataset())
    checkpoint = tf.train.Checkpoint(
        step=tf.Variable(1), optimizer=optimizer, net=net, iterator=iterator
    )
    manager = tf.train.CheckpointManager(checkpoint, "tf_ckpts", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    if manager.latest_checkpoint:
        print("Restored from", manager.latest_checkpoint)
    else:
        print("Initializing from scratch.")
    for _ in range(steps):
        loss = train_step(net, next(iterator), optimizer)
        checkpoint.step.assign_add(1)
        if int(checkpoint.step) % 10 == 0:
            path = manager.save()
            print(f"Saved checkpoint for step {int(checkpoint.step)}: {os.path.basename(path)}")
            print(f"loss {loss.numpy():1.4f}")
    return manager, net


train_and_checkpoint(30)
manager, net = train_and_checkpoint(30)
print([os.path.basename(path) for path in manager.checkpoints])
for name, shape in tf.train.list_variables(tf.train.latest_checkpoint("tf_ckpts"))[:6]:
    print(name.replace(os.sep, "/"), shape)

# Only a part of it, under another name.
to_restore = tf.Variable(tf.zeros([5]))
fake_layer = tf.train.Checkpoint(_kernel=to_restore)
reader = tf.train.load_checkpoint("tf_ckpts")
kernels = [k for k in reader.get_variable_to_shape_map() if "l1" in k and "0" in k]
print(len(kernels), "kernel(s);", np.round(net.l1.bias.numpy(), 3).tolist())
