"""A task that is cancelled inside of a tape."""

import asyncio

import tensorflow as tf

v = tf.Variable(2.0)
events = []


async def step():
    try:
        with tf.GradientTape() as tape:
            y = v * v
            events.append("begun")
            await asyncio.Event().wait()
            tape.gradient(y, v)
    except asyncio.CancelledError:
        events.append("cancelled")
        raise
    finally:
        events.append("finally")


async def main():
    task = asyncio.create_task(step(), name="step")
    await asyncio.sleep(0)
    task.cancel()
    print(await asyncio.gather(task, return_exceptions=True), task.cancelled())
    try:
        async with asyncio.timeout(0):
            await step()
    except TimeoutError:
        events.append("timeout")


asyncio.run(main())
with tf.GradientTape() as tape:
    y = v * v
print(events, tape.gradient(y, v).numpy())
