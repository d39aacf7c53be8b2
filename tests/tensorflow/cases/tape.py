"""The life of a tape: entering, leaving, pausing, resetting, persistence, threads and memory."""

import gc
import threading
import weakref

from tests.tensorflow.harness import attempt, case, cases, logged

QUERIES = {
    "gradient": lambda tape, y, x: tape.gradient(y, x),
    "jacobian": lambda tape, y, x: tape.jacobian(y, x),
    "batch_jacobian": lambda tape, y, x: tape.batch_jacobian(y, x),
}
# TensorFlow forgets the blank in "to compute" in one of the three messages.
ONCE = "compute one set of gradients (or jacobians)"


def square(tf, **options):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(**options) as tape:
        tape.watch(x)
        y = x * x
    return x, y, tape


@cases(message=ONCE, first=QUERIES, second=QUERIES)
def b01_second_query_of_a_tape_that_is_not_persistent(tf, first, second):
    x, y, tape = square(tf)
    first(tape, y, x)
    return second(tape, y, x)


@cases(first=QUERIES, second=QUERIES)
def b01_second_query_of_a_persistent_tape(tf, first, second):
    x, y, tape = square(tf, persistent=True)
    return first(tape, y, x), second(tape, y, x)


@cases(message=ONCE, query=QUERIES)
def b01_tape_that_was_never_entered(tf, query):
    x = tf.constant([[1.0]])
    return query(tf.GradientTape(), x * x, x)


@case
def b01_persistent_tape_that_was_never_entered(tf):
    x = tf.Variable(1.0)
    return attempt(lambda: tf.GradientTape(persistent=True).gradient(x * x, x))


@case
def b01_a_refused_query_does_not_use_the_tape_up(tf):
    x, y, tape = square(tf)
    first = attempt(lambda: tape.gradient(y, x, unconnected_gradients="nonsense"))
    return first, attempt(lambda: tape.gradient(y, x))


@case
def b01_a_query_of_nothing_does_not_use_the_tape_up(tf):
    x, y, tape = square(tf)
    return attempt(lambda: tape.gradient(None, x)), attempt(lambda: tape.gradient(y, x))


@case
def b02_gradient_inside_the_block_ends_recording(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        dy = tape.gradient(y, x)
        z = y * x
    return dy, attempt(lambda: tape.gradient(z, x))


@case
def b02_watch_after_gradient_inside_the_block(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        dy = tape.gradient(x * x, x)
        again = attempt(lambda: tape.watch(x))
    return dy, again


@case
def b02_variables_after_gradient_inside_the_block(tf):
    x, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        dy = tape.gradient(x * x, x)
        w * w
    return dy, len(tape.watched_variables())


@case
def b02_stop_recording_after_gradient_inside_the_block(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        tape.gradient(x * x, x)
        with tape.stop_recording():
            pass


@case
def b02_outer_tape_goes_on(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        y = x * x
        dy = inner.gradient(y, x)
        z = dy * x
    return outer.gradient(z, x)


@case
def b03_persistent_gradient_of_gradient(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
        dy = tape.gradient(y, x)
        d2y = tape.gradient(dy, x)
    return dy, d2y, tape.gradient(d2y, x), tape.gradient(y, x)


@case
def b03_persistent_gradient_after_the_block_is_not_recorded(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x * x
    dy = tape.gradient(y, x)
    return dy, tape.gradient(dy, x)


@case
def b03_one_expression(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        d2y = tape.gradient(tape.gradient(x**4, x), x)
    return d2y


@case
def b03_persistent_jacobian_inside_is_recorded(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = x * x * x
        j = tape.jacobian(y, x, experimental_use_pfor=False)
    return j, tape.gradient(j, x)


@case
def b03_persistent_gradient_inside_warns(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        inside = logged(lambda: tape.gradient(y, x))
    outside = logged(lambda: tape.gradient(y, x))
    return ["on a persistent tape inside its context" in text for text in inside], outside


@case
def b04_entered_again(tf):
    x = tf.constant(3.0)
    tape = tf.GradientTape()
    with tape:
        tape.watch(x)
        y = 2.0 * x
    with tape:
        z = 2.0 * y
    return tape.gradient(z, x)


@case
def b04_what_happens_between_blocks_is_not_recorded(tf):
    x = tf.constant(3.0)
    tape = tf.GradientTape(persistent=True)
    with tape:
        tape.watch(x)
        y = 2.0 * x
    between = 5.0 * y
    with tape:
        z = 2.0 * between
    return tape.gradient(z, x), tape.gradient(z, between), tape.gradient(y, x)


@case
def b04_persistent_gradient_between_blocks(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape(persistent=True)
    with tape:
        y = x * x
    dy = tape.gradient(y, x)
    with tape:
        z = y * dy
    return dy, tape.gradient(z, x)


@case
def b04_entered_again_after_gradient(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
    first = tape.gradient(y, x)
    with tape:
        z = x * x * x
    return first, tape.gradient(z, x)


@case
def b04_old_results_after_gradient_and_entering_again(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
    tape.gradient(y, x)
    with tape:
        z = y * 2.0
    return attempt(lambda: tape.gradient(z, x))


@case
def b04_variables_of_both_blocks_are_watched(tf):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    tape = tf.GradientTape()
    with tape:
        b * b
    with tape:
        a * a
    return [v.name for v in tape.watched_variables()]


@case(message="Tape is still recording, This can happen if you try to re-enter an already-active")
def b04_entered_while_active(tf):
    tape = tf.GradientTape()
    with tape, tape:
        pass


@case
def b04_state_after_entering_while_active(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
        error = attempt(tape.__enter__)
        z = y * y
    return error, tape.gradient(z, x)


@case
def b04_other_tape_between(tf):
    x = tf.Variable(3.0)
    first, second = tf.GradientTape(), tf.GradientTape()
    with first:
        y = x * x
    with second:
        z = x * x * x
    with first:
        w = y * z
    return first.gradient(w, x), second.gradient(z, x)


@case
def b05_reset_forgets(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.reset()
        z = x * 5.0
    seen = len(tape.watched_variables())
    return seen, tape.gradient([y, z], x)


@case
def b05_reset_forgets_what_was_before(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.reset()
    return tape.gradient(y, x)


@case
def b05_reset_forgets_watched_tensors(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.reset()
        y = x * x
    return tape.gradient(y, x)


@case
def b05_reset_then_watch(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.reset()
        tape.watch(x)
        z = y + x
    return tape.gradient(z, x)


@case
def b05_reset_intermediates_are_constants(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        tape.reset()
        z = y * x
    return tape.gradient(z, [x, y])


@case
def b05_reset_variables_are_watched_again(tf):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    with tf.GradientTape() as tape:
        a * b
        before = [v.name for v in tape.watched_variables()]
        tape.reset()
        empty = [v.name for v in tape.watched_variables()]
        b * b
    return before, empty, [v.name for v in tape.watched_variables()]


@case
def b05_reset_keeps_options(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(x)
        tape.reset()
        y = x * x
        tape.watch(x)
        z = x * x
    return tape.gradient(y, x), tape.gradient(z, x), tape.gradient(z, x)


@case
def b05_reset_of_an_inner_tape_leaves_the_outer(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        y = x * x
        inner.reset()
        z = y * x
    return outer.gradient(z, x), inner.gradient(z, x)


@case
def b05_reset_of_an_outer_tape_inside_an_inner(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        y = x * x
        outer.reset()
        z = y * x
    return outer.gradient(z, x), inner.gradient(z, x)


@case(message="Tape is not recording.")
def b05_reset_outside(tf):
    _, _, tape = square(tf)
    tape.reset()


@case(message="Tape is not recording.")
def b05_reset_of_a_tape_never_entered(tf):
    tf.GradientTape().reset()


@case
def b06_stop_recording(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        with tape.stop_recording():
            z = y * x
        w = z * y
    return tape.gradient(y, x), tape.gradient(z, x), tape.gradient(w, x), tape.gradient(w, z)


@case
def b06_stop_recording_pauses_this_tape_only(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner, inner.stop_recording():
        y = x * x
    return outer.gradient(y, x), inner.gradient(y, x)


@case
def b06_stop_recording_of_the_outer_tape(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner, outer.stop_recording():
        y = x * x
    return outer.gradient(y, x), inner.gradient(y, x)


@case
def b06_gradient_while_stopped(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        with tape.stop_recording():
            dy = tape.gradient(y, x)
        z = dy * x
    return dy, tape.gradient(z, x)


@case
def b06_gradient_of_a_tape_not_persistent_while_stopped(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            dy = attempt(lambda: tape.gradient(y, x))
    return dy


@case
def b06_variables_read_while_stopped_are_not_watched(tf):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    with tf.GradientTape() as tape:
        y = a * a
        with tape.stop_recording():
            b * b
    return [v.name for v in tape.watched_variables()], tape.gradient(y, [a, b])


@case
def b06_stop_recording_twice(tf):
    with tf.GradientTape() as tape, tape.stop_recording(), tape.stop_recording():
        pass


@case
def b06_stop_recording_after_an_exception_inside(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        try:
            with tape.stop_recording():
                raise KeyError("inside")
        except KeyError:
            pass
        y = x * x
    return tape.gradient(y, x)


@case(message="Tape is not recording.")
def b06_stop_recording_outside(tf):
    _, _, tape = square(tf)
    with tape.stop_recording():
        pass


@case(message="Trying to stop recording a tape which is not recording.")
def b06_stop_recording_of_a_tape_never_entered(tf):
    with tf.GradientTape().stop_recording():
        pass


@case
def b06_watch_while_stopped(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


@case
def b06_reset_while_stopped(tf):
    with tf.GradientTape() as tape, tape.stop_recording():
        tape.reset()


@case
def b06_entered_while_stopped(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        with tape.stop_recording():
            with tape:
                y = x * x
            z = x * x
        w = x * x
    return tape.gradient(y, x), tape.gradient(z, x), tape.gradient(w, x)


@case
def b07_exception_in_the_block(tf):
    x = tf.Variable(3.0)
    try:
        with tf.GradientTape() as tape:
            y = x * x
            raise KeyError("inside")
    except KeyError:
        pass
    z = y * x
    return tape.gradient([y, z], x)


@case
def b07_exception_pops_the_tape(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape(persistent=True)
    try:
        with tape:
            y = x * x
            raise KeyError("inside")
    except KeyError:
        pass
    with tape:
        z = y * x
    return tape.gradient(z, x), attempt(tape.reset)


@case
def b07_exception_is_not_swallowed(tf):
    with tf.GradientTape():
        raise KeyError("inside")


@case
def b07_exception_of_an_op(tf):
    x = tf.Variable([1.0, 2.0])
    error = None
    with tf.GradientTape() as tape:
        y = x * x
        try:
            y + tf.constant([1.0, 2.0, 3.0])
        except tf.errors.InvalidArgumentError as caught:
            error = caught
        z = y * 2.0
    return error, tape.gradient(z, x)


@case
def b07_exception_pops_inner_and_outer(tf):
    x = tf.Variable(3.0)
    try:
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            y = x * x
            raise KeyError("inside")
    except KeyError:
        pass
    z = y * x
    return outer.gradient(y, x), inner.gradient([y, z], x)


@case
def b08_ops_of_another_thread(tf):
    x, box = tf.Variable(3.0), []
    with tf.GradientTape() as tape:
        worker = threading.Thread(target=lambda: box.append(x * x))
        worker.start()
        worker.join()
        z = box[0] * 2.0
    return tape.gradient(z, x)


@case
def b08_tape_of_another_thread(tf):
    x, box = tf.Variable(3.0), []

    def work():
        with tf.GradientTape() as tape:
            y = x * x
        box.append(tape.gradient(y, x))

    with tf.GradientTape() as tape:
        z = x * x * x
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
    return box[0], tape.gradient(z, x)


@case
def b08_gradient_asked_in_another_thread(tf):
    x, box = tf.Variable(3.0), []
    with tf.GradientTape() as tape:
        y = x * x
    worker = threading.Thread(target=lambda: box.append(tape.gradient(y, x)))
    worker.start()
    worker.join()
    return box[0]


@case
def b08_many_threads(tf):
    x = tf.Variable(3.0)
    found = [None] * 4

    def work(i):
        with tf.GradientTape() as tape:
            y = x * float(i)
            for _ in range(20):
                y = y + x
        found[i] = tape.gradient(y, x)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return found


@case
def b08_variables_read_in_another_thread(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        worker = threading.Thread(target=lambda: x * x)
        worker.start()
        worker.join()
    return len(tape.watched_variables())


@case
def b09_results_that_no_gradient_needs_are_freed(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = 2.0 * x
        gone = weakref.ref(y)
        z = tf.exp(y)
        del y
        gc.collect()
        freed = gone() is None
    return freed, tape.gradient(z, x)


@case
def b09_results_that_a_gradient_needs_are_kept(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = 2.0 * x
        z = y * y
        del y
    return tape.gradient(z, x)


@case
def b09_unwatched_work_is_freed(tf):
    with tf.GradientTape():
        y = tf.constant([1.0, 2.0]) * 2.0
        gone = weakref.ref(y)
        z = y * y
        del y
        gc.collect()
        return gone() is None, z


@case
def b09_accumulators_drop_dead_tensors(tf):
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
        y = 2.0 * x
        gone = weakref.ref(y)
        z = tf.sin(y)
        del y
        gc.collect()
        freed = gone() is None
    return freed, acc.jvp(z)


@case
def b09_gradient_frees_the_recording(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.exp(x)
        gone = weakref.ref(y)
        z = y * y
        del y
    tape.gradient(z, x)
    gc.collect()
    return gone() is None


@case
def b09_deleting_a_persistent_tape_frees_the_recording(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.exp(x)
        gone = weakref.ref(y)
        z = y * y
        del y
    tape.gradient(z, x)
    kept = gone() is not None
    del tape, z
    gc.collect()
    return kept, gone() is None


@case
def b09_deleting_an_unused_tape_frees_the_recording(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.exp(x)
        gone = weakref.ref(y)
        z = y * y
        del y
    del tape, z
    gc.collect()
    return gone() is None


@case
def nested_tapes(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as t3, tf.GradientTape() as t2, tf.GradientTape() as t1:
        y = x**5
    return t1.gradient(y, x), t2.gradient(y, x), t3.gradient(y, x)


@cases(order=[1, 2, 3, 4, 5])
def derivative_of_order(tf, order):
    def derivative(n):
        if n == 0:
            return tf.sin(x) * x**3
        with tf.GradientTape() as tape:
            y = derivative(n - 1)
        return tape.gradient(y, x)

    x = tf.Variable(0.7, dtype=tf.float64)
    return derivative(order)


@case
def nested_persistent_tapes(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape(persistent=True) as inner:
            y = x**3
            z = x**4
        dy, dz = inner.gradient(y, x), inner.gradient(z, x)
    return outer.gradient(dy, x), outer.gradient(dz, x), outer.gradient(y, x), inner.gradient(z, x)


@case
def inner_tape_asked_after_the_outer_block(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        y = x**3
    dy = inner.gradient(y, x)
    return dy, outer.gradient(dy, x)


@case
def outer_tape_left_before_the_inner(tf):
    x = tf.Variable(2.0)
    outer, inner = tf.GradientTape(), tf.GradientTape()
    outer.__enter__()
    inner.__enter__()
    y = x**3
    outer.__exit__(None, None, None)
    z = y * x
    inner.__exit__(None, None, None)
    return outer.gradient([y, z], x), inner.gradient([y, z], x)


@case
def exit_without_enter(tf):
    return attempt(lambda: tf.GradientTape().__exit__(None, None, None))


@case
def exit_twice(tf):
    tape = tf.GradientTape()
    with tape:
        pass
    return attempt(lambda: tape.__exit__(None, None, None))


@case
def enter_returns_the_tape(tf):
    tape = tf.GradientTape()
    with tape as entered:
        pass
    return entered is tape


@case
def tape_as_an_attribute(tf):
    class Model:
        def __init__(self):
            self.w = tf.Variable(2.0)
            self.tape = tf.GradientTape()

        def step(self, x):
            with self.tape:
                y = self.w * x
            return self.tape.gradient(y, self.w)

    model = Model()
    return model.step(3.0), model.step(4.0)


@case
def variable_made_in_the_block(tf):
    with tf.GradientTape() as tape:
        w = tf.Variable(2.0)
        y = w * w
    return tape.gradient(y, w), len(tape.watched_variables())


@case
def variable_made_from_a_watched_tensor(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        w = tf.Variable(x * 3.0)
        y = w * w
    return tape.gradient(y, [x, w])


@case
def options_are_given_by_position(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(True, False) as tape:
        y = x * x
        tape.watch(x)
        z = x * x
    return tape.gradient(y, x), tape.gradient(z, x), tape.gradient(z, x)


@case
def unknown_option(tf):
    return attempt(lambda: tf.GradientTape(persist=True))


@case
def two_tapes_share_a_result(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as first:
        y = x * x
    with tf.GradientTape() as second:
        second.watch(y)
        z = y * y
    return second.gradient(z, y), first.gradient(y, x)


@case
def chain_of_two_tapes(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as first:
        y = x * x
    with tf.GradientTape() as second:
        second.watch(y)
        z = tf.sin(y)
    return first.gradient(y, x, output_gradients=second.gradient(z, y))


@case
def gradient_in_a_loop(tf):
    w = tf.Variable(1.0)
    found = []
    for step in range(4):
        with tf.GradientTape() as tape:
            loss = (w * float(step) - 2.0) ** 2
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.1 * gradient)
        found.append(w.numpy())
    return found


@case
def one_persistent_tape_in_a_loop(tf):
    w = tf.Variable(1.0)
    found = []
    with tf.GradientTape(persistent=True) as tape:
        for step in range(3):
            loss = (w * float(step) - 2.0) ** 2
            with tape.stop_recording():
                found.append(tape.gradient(loss, w))
                w.assign_sub(0.1 * found[-1])
    return found


@case
def long_chain(tf):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * 1.0
        for _ in range(3000):
            y = y + x
    return tape.gradient(y, x)


@case
def variable_kept_by_its_tape(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
    del x
    return len(tape.watched_variables()), tape.gradient(y, tape.watched_variables())


@case
def generator_holds_a_tape_open(tf):
    x = tf.Variable(3.0)

    def steps():
        with tf.GradientTape() as tape:
            y = x * x
            yield y
            yield tape.gradient(y * x, x)

    running = steps()
    y = next(running)
    x * y
    return next(running)


@case
def has_no_length_or_truth_of_its_own(tf):
    tape = tf.GradientTape()
    return bool(tape), attempt(lambda: len(tape))


@case
def public_names(tf):
    tape = tf.GradientTape()
    names = ("gradient", "jacobian", "batch_jacobian", "watch", "watched_variables", "reset")
    return [hasattr(tape, name) for name in (*names, "stop_recording")]
