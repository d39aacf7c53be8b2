"""What the documentation says of bits and threads: for each sentence a test, named after it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
import gradtape as tf
from gradtape.compile.backends import choice, llvm
from gradtape.compile.native import crew
from gradtape.ops.kernels import parallel
from tests.documents.blocks import ROOT

from .crews import all_shared, crew_of
from .test_programs import array, compiled

CLAIMS = {  # the page, and a test below
    "their bits do not depend on who computes which rows": ("design.md", "test_rows_of_products"),
    "The numbers are the same either way": (
        "design.md", "test_the_numbers_are_the_same_either_way",
    ),
    "gives the same bits in every call, with any number of threads": (
        "functions.md", "test_the_same_bits_in_every_call_with_any_number_of_threads",
    ),
    "always there, so that the same run gives the same numbers": (
        "functions.md", "test_the_same_run_gives_the_same_numbers",
    ),
    "NaN and infinities are in the same places": (
        "functions.md", "test_nan_and_infinities_are_in_the_same_places",
    ),
    "Two threads may call one function": ("functions.md", "test_two_threads_may_call_one_function"),
    "A program never writes to memory that a tensor of yours can see": (
        "functions.md", "test_a_program_never_writes_to_memory_that_a_tensor_of_yours_can_see",
    ),
    "if another thread has changed a variable meanwhile, it computes anew": (
        "design.md", "test_if_another_thread_has_changed_a_variable_it_computes_anew",
    ),
    "`GRADTAPE_THREADS`, or `OMP_NUM_THREADS`, or one for each core": (
        "functions.md", "test_gradtape_threads_or_omp_num_threads_or_one_for_each_core",
    ),
    "Bit for bit the same": ("random.md", "test_draws_do_not_depend_on_the_number_of_threads"),
}  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS)
def test_each_claim_is_still_made_and_has_its_test(claim: str) -> None:
    page, name = CLAIMS[claim]
    text = " ".join((ROOT / "docs" / page).read_text().split())
    assert claim in text
    assert callable(globals()[name])


def bits(values: Any) -> list[bytes]:
    return [np.asarray(value).tobytes() for value in tf.nest.flatten(values)]


def training(x: Any, w: Any) -> Any:
    """Products, sums over any axes, a softmax and their gradients."""
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        weights = tf.nn.softmax(tf.nn.relu(x @ w))
        centred = weights - tf.reduce_mean(weights, 0, keepdims=True)
        loss = tf.reduce_sum(tf.square(centred)) + tf.reduce_max(weights)
    return loss, centred, *tape.gradient(loss, [x, w])


OPERANDS = array(150, 70), array(70, 90)
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (training, OPERANDS),
    (lambda a, b: a @ b, (array(67, 130), array(130, 41))),
    (lambda a, b: tf.nn.conv2d(a, b, 1, "SAME"), (array(5, 9, 10, 8), array(3, 3, 8, 16))),
]


def test_rows_of_products() -> None:
    a, b = array(101, 67), array(67, 53)
    with all_shared(), crew_of(1):
        whole = np.asarray(compiled(lambda a, b: a @ b)(a, b))
        with crew_of(3):
            shared = compiled(lambda a, b: a @ b)
            for _ in range(50):
                np.testing.assert_array_equal(shared(a, b), whole)


def test_the_numbers_are_the_same_either_way() -> None:
    """A crew that always works together, one that decides for itself, and nobody but the caller."""
    for function, operands in PROGRAMS:
        with crew_of(1):
            alone = bits(compiled(function)(*operands))
        for forced in (True, False):
            with crew_of(2, forced):
                step = compiled(function)
                assert all(bits(step(*operands)) == alone for _ in range(40))


def test_the_same_bits_in_every_call_with_any_number_of_threads() -> None:
    for function, operands in PROGRAMS:
        found = set()
        for threads in (1, 2, 3, 4):
            with all_shared(), crew_of(threads):
                step = compiled(function)
                found |= {tuple(bits(step(*operands))) for _ in range(20)}
        assert len(found) == 1


def test_the_same_run_gives_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call by call, whenever the compiler is done: machine code from the twelfth call on."""
    monkeypatch.setattr(choice, "NAME", "auto")
    runs = []
    for _ in range(2):
        step = tf.function(training)
        runs.append([bits(step(*OPERANDS)) for _ in range(llvm.CHANGE + 3)])
    assert runs[0] == runs[1]
    assert llvm.CHANGE == 12
    native = bits(compiled(training)(*OPERANDS))
    assert [one == native for one in runs[0]] == [False] * 11 + [True] * 4


def test_nan_and_infinities_are_in_the_same_places() -> None:
    x = np.random.default_rng(0).normal(size=(40, 30)).astype("float32")
    x[3, 4], x[5, 6], x[7, 8], x[9] = np.nan, np.inf, -np.inf, 100.0

    def program(x: Any) -> Any:
        return tf.exp(x), tf.math.log(x), tf.nn.softmax(x), tf.reduce_sum(x, 1), x @ x[:30]

    for found, expected in zip(compiled(program)(x), program(tf.constant(x)), strict=True):
        found, expected = found.numpy(), expected.numpy()
        finite = np.isfinite(expected)
        np.testing.assert_array_equal(found[~finite], expected[~finite])
        assert np.isfinite(found[finite]).all()


def in_threads(work: Callable[[int], None], count: int = 4) -> None:
    errors: list[BaseException] = []

    def run(me: int) -> None:
        try:
            work(me)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(me,)) for me in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_two_threads_may_call_one_function() -> None:
    with all_shared(), crew_of(2):
        step = compiled(training)
        sets = [(array(150, 70), OPERANDS[1]) for _ in range(4)]
        expected = [bits(step(*operands)) for operands in sets]

        def work(me: int) -> None:
            for _ in range(40):
                assert bits(step(*sets[me])) == expected[me]

        in_threads(work)


def test_a_program_never_writes_to_memory_that_a_tensor_of_yours_can_see() -> None:
    w = tf.Variable(array(60, 70))
    rows = tf.constant([3, 0, 41])

    def step(x: Any) -> Any:
        before = w.read_value()
        y = tf.nn.relu(x)
        w.assign_sub(0.5 * y)
        w.scatter_add(tf.IndexedSlices(tf.sin(y[:3]), rows))
        return before, y, tf.reshape(y, [-1]), w + 0.0

    for name in ("numpy", "llvm"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(choice, "NAME", name)
            function, x = tf.function(step), array(60, 70)
            seen: list[tuple[Any, list[bytes]]] = [(x, bits(x))]
            for _ in range(15):
                read = w.value()
                seen += [(read, bits(read)), (found := function(x), bits(found))]
            assert all(bits(values) == before for values, before in seen)


def test_if_another_thread_has_changed_a_variable_it_computes_anew() -> None:
    counter = tf.Variable(tf.zeros([50, 40]))
    with all_shared(), crew_of(2):
        step = compiled(lambda: counter.assign(tf.nn.relu(counter) + 1.0))
        step()

        def work(me: int) -> None:
            for _ in range(50):
                step()

        in_threads(work)
    np.testing.assert_array_equal(counter, np.full((50, 40), 201.0))


def test_gradtape_threads_or_omp_num_threads_or_one_for_each_core(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wanted() -> int:
        crew.wanted.cache_clear()
        try:
            return crew.wanted()
        finally:
            crew.wanted.cache_clear()

    monkeypatch.setenv("GRADTAPE_THREADS", "3")
    monkeypatch.setenv("OMP_NUM_THREADS", "5,2")
    assert wanted() == 3
    monkeypatch.delenv("GRADTAPE_THREADS")
    assert wanted() == 5
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert wanted() >= 1


def test_draws_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def draws() -> Any:
        generator = tf.random.Generator.from_seed(3)
        return generator.uniform([700_001]), generator.normal([300_003], dtype=tf.float64)

    def compiled_draw() -> Any:
        tf.random.set_seed(3)
        return tf.function(lambda: tf.random.uniform([70_001]))()

    found = set()
    for threads in (1, 2, 3):
        monkeypatch.setattr(parallel, "limit", threads)
        with all_shared(), crew_of(threads):
            found.add((*bits(draws()), *bits(compiled_draw())))
    monkeypatch.setattr(choice, "NAME", "numpy")
    found.add((*bits(draws()), *bits(compiled_draw())))
    assert len(found) == 1
