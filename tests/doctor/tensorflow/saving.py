"""A program that stores, copies and spreads what it trains: run plain and under the doctor, its
words, its exit code and its files are to be the same. Where it writes is its first argument."""

import copy
import json
import multiprocessing
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import tensorflow as tf

OUT = Path(sys.argv[1])


def slope(start):
    """The gradient of a cube, in whatever process or thread this is called."""
    x = tf.Variable(start)
    with tf.GradientTape() as tape:
        y = x**3
    return float(tape.gradient(y, x))


@tf.keras.utils.register_keras_serializable()
class Scaled(tf.keras.layers.Layer):
    def call(self, x):
        return 2.0 * x


def made():
    return tf.keras.Sequential(
        [tf.keras.Input((4,)), tf.keras.layers.Dense(8, "relu"), Scaled(), tf.keras.layers.Dense(1)]
    )


def words(model):
    return [float(np.sum(w)).hex() for w in model.get_weights()]


def train():
    tf.keras.utils.set_random_seed(3)
    model = made()
    model.compile(tf.keras.optimizers.Adam(0.01), "mse")
    x = np.random.normal(size=(64, 4)).astype("float32")
    y = x[:, :1] * 2
    history = model.fit(x, y, epochs=2, batch_size=16, verbose=0)
    print([loss.hex() for loss in history.history["loss"]], words(model))
    return model, x, y


def store(model, x):
    model.save_weights(OUT / "weights.weights.h5")
    model.save(OUT / "model.keras")
    again = tf.keras.models.load_model(OUT / "model.keras")
    print(words(again), np.array_equal(again.predict(x, verbose=0), model.predict(x, verbose=0)))
    (OUT / "config.json").write_text(json.dumps(model.get_config(), sort_keys=True))
    clones = [tf.keras.models.clone_model(model), copy.deepcopy(model), made()]
    clones[0].set_weights(model.get_weights())
    clones[2].load_weights(OUT / "weights.weights.h5")
    print([words(clone) for clone in clones])
    weights = pickle.dumps([w.numpy() for w in model.trainable_variables])
    (OUT / "weights.pickle").write_bytes(weights)
    print([w.shape for w in pickle.loads(weights)], pickle.loads(pickle.dumps(slope)) is slope)
    variable = tf.Variable([1.0, 2.0], name="v")
    print(copy.deepcopy(variable).numpy(), copy.copy(variable).name)


def export():
    class Module(tf.Module):
        def __init__(self):
            self.w = tf.Variable([1.0, 2.0], name="w")

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def slope(self, x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(self.w**2 * x)
            return tape.gradient(loss, self.w)

    module = Module()
    print(module.slope(tf.constant([1.0, 3.0])).numpy())
    tf.saved_model.save(module, str(OUT / "saved"))
    loaded = tf.saved_model.load(str(OUT / "saved"))
    print(loaded.slope(tf.constant([1.0, 3.0])).numpy())
    path = tf.train.Checkpoint(m=module).write(str(OUT / "checkpoint"))
    print(Path(path).name, [v.name for v in module.variables])


def compiled():
    w = tf.Variable(3.0)

    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.sin(w * x) ** 2
        return tape.gradient(loss, w)

    print([float(step(tf.constant(k))).hex() for k in (0.5, 1.5)])


def mirrored(x, y):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    tf.keras.utils.set_random_seed(5)
    with strategy.scope():
        model = made()
        model.compile(tf.keras.optimizers.SGD(0.01), "mse")
    history = model.fit(x, y, epochs=1, batch_size=16, verbose=0, shuffle=False)
    print(strategy.num_replicas_in_sync, [round(loss, 4) for loss in history.history["loss"]])


def mixed(x, y):
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    tf.keras.utils.set_random_seed(5)
    model = made()
    model.compile("sgd", "mse")
    model.fit(x, y, epochs=1, batch_size=16, verbose=0)
    print(model.compute_dtype, words(model))
    tf.keras.mixed_precision.set_global_policy("float32")


def spread():
    found = {}
    threads = [
        threading.Thread(target=lambda k=k: found.update({k: slope(float(k))})) for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sorted(found.items()))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(slope, [2.0, 3.0]))
    with multiprocessing.get_context("fork").Pool(1) as pool:  # TensorFlow itself cannot fork
        print(pool.map(abs, [-1, 2]))
    code = "import sys; print('child', len(sys.argv)); sys.exit(4)"
    print(subprocess.run([sys.executable, "-c", code], check=False).returncode, flush=True)


if __name__ == "__main__":
    cpus = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(
        cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
    model, x, y = train()
    store(model, x)
    export()
    compiled()
    mirrored(x, y)
    mixed(x, y)
    sys.stdout.flush()
    spread()
    sys.exit(5)
