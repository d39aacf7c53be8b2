"""Asynchronous generators and context managers around tapes."""

import asyncio
from contextlib import asynccontextmanager

import tensorflow as tf

v = tf.Variable(1.5)


@asynccontextmanager
async def taping():
    with tf.GradientTape() as tape:
        await asyncio.sleep(0)
        yield tape


async def batches():
    try:
        for k in range(5):
            await asyncio.sleep(0)
            yield float(k + 1)
    finally:
        print("closed")


async def main():
    stream = batches()
    async for k in stream:
        async with taping() as tape:
            y = v * v * k
        print(k, tape.gradient(y, v).numpy())
        if k == 3.0:
            break
    await stream.aclose()


asyncio.run(main())
