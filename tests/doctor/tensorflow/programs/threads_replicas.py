"""Several models, each trained by a thread of its own, with results handed back by a queue."""

import queue
import threading

import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
results = queue.Queue()
lock = threading.Lock()
finished = []


class Worker(threading.Thread):
    """Fits a line to noisy points by gradient descent."""

    def __init__(self, number):
        super().__init__(name=f"worker-{number}")
        self.number = number
        self.rng = np.random.default_rng(number)

    def run(self):
        x = self.rng.uniform(-1, 1, size=(64, 1)).astype("float32")
        y = (self.number + 1) * x - 0.5 + 0.01 * self.rng.normal(size=x.shape).astype("float32")
        slope = tf.Variable([[0.0]])
        offset = tf.Variable([0.0])
        losses = []
        for _ in range(60):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.matmul(x, slope) + offset - y))
            gradients = tape.gradient(loss, [slope, offset])
            for variable, gradient in zip([slope, offset], gradients):
                variable.assign_sub(0.4 * gradient)
            losses.append(float(loss))
        with lock:
            finished.append(self.name)
        results.put((self.number, float(slope[0, 0]), float(offset[0]), losses[-1]))


workers = [Worker(k) for k in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()

print(len(finished), "threads have finished:", sorted(finished))
for number, slope, offset, loss in sorted(results.get() for _ in workers):
    print(f"worker {number}: y = {slope:.4f} x + {offset:.4f}, loss {loss:.8f}")

# One shared variable, counted up by all of them.
counter = tf.Variable(0)


def count():
    for _ in range(50):
        counter.assign_add(1)


threads = [threading.Thread(target=count) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("counted to", int(counter))
print("threads left:", [t.name for t in threading.enumerate() if not t.daemon])
