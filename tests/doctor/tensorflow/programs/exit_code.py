"""A command line tool: argparse, logging, and an exit code that says how it went."""

import argparse
import logging
import sys

import numpy as np
import tensorflow as tf

logger = logging.getLogger("trainer")


def parse(argv=None):
    parser = argparse.ArgumentParser(description="Fit a polynomial.")
    parser.add_argument("--degree", type=int, default=3)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--rate", type=float, default=0.2)
    parser.add_argument("--goal", type=float, default=1e-4, help="the loss that is good enough")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args(argv)


def features(x, degree):
    return tf.stack([x**k for k in range(degree + 1)], axis=1)


def main():
    options = parse()
    logging.basicConfig(
        level=logging.DEBUG if options.verbose else logging.INFO,
        format="%(levelname)s %(name)s %(funcName)s:%(lineno)d %(message)s",
        handlers=[logging.StreamHandler(sys.stdout), logging.FileHandler("train.log", mode="w")],
    )
    logger.info("program %s, options %s", sys.argv[0].rpartition("/")[2], vars(options))
    x = tf.constant(np.linspace(-1, 1, 50), tf.float32)
    y = 0.5 * x**3 - x + 0.25
    inputs = features(x, options.degree)
    coefficients = tf.Variable(tf.zeros([options.degree + 1]))
    best = float("inf")
    for step in range(options.steps):
        with tf.GradientTape() as tape:
            residual = tf.linalg.matvec(inputs, coefficients) - y
            loss = tf.reduce_mean(residual**2)
        coefficients.assign_sub(options.rate * tape.gradient(loss, coefficients))
        best = min(best, float(loss))
        if step % 40 == 0:
            logger.info("step %d: loss %.6f", step, float(loss))
    np.savetxt("coefficients.txt", coefficients.numpy(), fmt="%.5f")
    if best > options.goal:
        logger.warning("the goal of %g was missed by %.6f", options.goal, best - options.goal)
        return 4
    logger.info("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
