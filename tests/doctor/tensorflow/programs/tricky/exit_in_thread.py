"""`sys.exit` in a thread ends the thread, and one of the main thread waits for the others."""

import sys
import threading

import tensorflow as tf

v = tf.Variable(2.0)
main_ends = threading.Event()


def ends():
    with tf.GradientTape() as tape:
        y = v * v
    print(tape.gradient(y, v).numpy())
    sys.exit(8)


def stays():
    threading.main_thread().join()
    with tf.GradientTape() as tape:
        y = v * 3.0
    print("after the main thread", tape.gradient(y, v).numpy())


worker = threading.Thread(target=ends)
worker.start()
worker.join()
threading.Thread(target=stays).start()
print("end of the main thread")
sys.exit(6)
