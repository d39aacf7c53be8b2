"""`asyncio.to_thread` and a loop in a thread."""

import asyncio
import threading

import tensorflow as tf

v = tf.Variable(3.0)


def step(k):
    with tf.GradientTape() as tape:
        y = v * float(k)
    return float(tape.gradient(y, v)), threading.current_thread() is threading.main_thread()


async def main():
    first = await asyncio.to_thread(step, 2)
    return first, step(3), len(asyncio.all_tasks())


print(asyncio.run(main()))
answers = []
worker = threading.Thread(target=lambda: answers.append(asyncio.run(main())))
worker.start()
worker.join()
print(answers)
