"""A program that ends by an exception in the middle of training, with files half written."""

import os
import sys

import numpy as np
import tensorflow as tf

np.random.seed(9)
tf.random.set_seed(9)


class OutOfData(Exception):
    """There is nothing more to learn from."""


def batches(count):
    for _ in range(count):
        x = np.random.normal(size=(8, 3)).astype("float32")
        yield x, x @ np.ones((3, 1), dtype="float32")
    raise OutOfData(f"only {count} batches were made")


def train(weights, log):
    for step, (x, y) in enumerate(batches(6)):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
        gradient = tape.gradient(loss, weights)
        weights.assign_sub(0.1 * gradient)
        log.write(f"{step},{loss.numpy():.6f}\n")
        print("step", step, "loss", f"{loss.numpy():.6f}", flush=True)


def main():
    weights = tf.Variable(tf.zeros([3, 1]))
    with open("log.csv", "w") as log:
        try:
            train(weights, log)
        except OutOfData as error:
            print("stopped:", error)
            print("in", os.path.basename(sys.exc_info()[2].tb_next.tb_frame.f_code.co_filename))
            log.write("end\n")
            # A second fault while the first one is handled: shapes that do not fit.
            raise RuntimeError("could not finish") from error
        finally:
            print("the log has been closed properly")


if __name__ == "__main__":
    main()
