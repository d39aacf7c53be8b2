"""Training that is stopped, restored from its last checkpoint, and goes on as if nothing was."""

import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(10)
x = rng.uniform(-2.0, 2.0, (320, 1)).astype("float32")
y = np.sin(x) + rng.normal(0.0, 0.05, x.shape).astype("float32")


class Training:
    """All that a training consists of, taken up from the checkpoint in a folder if there is one."""

    def __init__(self, folder):
        keras.utils.set_random_seed(10)
        self.model = keras.Sequential(
            [keras.Input((1,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)]
        )
        self.optimizer = keras.optimizers.Adam(0.01)
        self.optimizer.build(self.model.trainable_variables)
        self.step = tf.Variable(0)
        batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(320).batch(32).repeat()
        self.iterator = iter(batches)
        self.checkpoint = tf.train.Checkpoint(
            step=self.step, optimizer=self.optimizer, model=self.model, iterator=self.iterator
        )
        self.manager = tf.train.CheckpointManager(self.checkpoint, folder, max_to_keep=2)
        if self.manager.latest_checkpoint:
            self.checkpoint.restore(self.manager.latest_checkpoint).assert_consumed()
            print(f"restored at step {int(self.step)}")
        else:
            print("from the beginning")

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.model(x, training=True) - y) ** 2)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        self.step.assign_add(1)
        return loss

    def run(self, until):
        """Train to this step; every fifth is saved."""
        while self.step < until:
            loss = self.train_step(*next(self.iterator))
            if int(self.step) % 5 == 0:
                self.manager.save()
                print(f"step {int(self.step)}   loss {loss:.6f}   saved")


with tempfile.TemporaryDirectory() as folder:
    Training(folder).run(until=18)  # stopped: what came after step 15 is lost
    Training(folder).run(until=30)
    kept = tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths
    print(f"kept: {', '.join(path.rsplit('-')[-1] for path in kept)}")

with tempfile.TemporaryDirectory() as folder:
    print("the same without a stop")
    Training(folder).run(until=30)
