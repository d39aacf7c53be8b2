"""Timers, conditions, queues and barriers between threads with tapes."""

import queue
import threading

import tensorflow as tf

v, tasks, answers = tf.Variable(2.0), queue.Queue(), queue.Queue()


def serve():
    while (k := tasks.get()) is not None:
        with tf.GradientTape() as tape:
            y = v**k
        answers.put((k, float(tape.gradient(y, v))))
        tasks.task_done()


worker = threading.Thread(target=serve, daemon=True, name="server")
worker.start()
for k in (1, 2, 3):
    tasks.put(k)
tasks.join()
tasks.put(None)
worker.join()
print([answers.get() for _ in range(3)], worker.daemon, worker.is_alive())
timer = threading.Timer(0.0, lambda: answers.put("timer"))
timer.start()
timer.join()
print(answers.get(), sorted(t.name for t in threading.enumerate()))
