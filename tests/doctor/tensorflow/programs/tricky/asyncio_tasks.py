"""Tasks that take turns, each with a context variable."""

import asyncio
from contextvars import ContextVar

import tensorflow as tf

rate = ContextVar("rate", default=1.0)


async def step(k):
    rate.set(float(k))
    v = tf.Variable(rate.get())
    await asyncio.sleep(0)
    with tf.GradientTape() as tape:
        y = v * v
    await asyncio.sleep(0)
    return rate.get(), float(tape.gradient(y, v))


async def main():
    return await asyncio.gather(*map(step, range(4)))


print(asyncio.run(main()), rate.get())
