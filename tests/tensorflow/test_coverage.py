"""Every public function and every keyword argument of it is asked of TensorFlow by some case."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from fnmatch import fnmatch

import gradtape
from tests.tensorflow import functions, harness, measure, thinned

# By function, or function:argument; patterns as file names have them.
EXEMPT = {
    "config.*": "settings of devices and threads; tests/test_run.py has them",
    "debugging.*check_numerics:*": "a switch for the whole process",
    "debugging.*_traceback_filtering": "a switch for the whole process",
    "debugging.is_traceback_filtering_enabled": "a switch for the whole process",
    "debugging.*_log_device_placement*": "a switch for the whole process",
    "debugging.*able_check_numerics*": "a switch for the whole process",
    "experimental.*": "switches of the eager runtime",
    "function:*": "what is asked of a compiler",
    "executing_eagerly": "no arguments",
    "gradients*": "for graphs only: both raise",
    "hessians*": "for graphs only: both raise",
    "group:kwargs": "for graphs only",
    "init_scope": "for graphs only",
    "inside_function": "for graphs only",
    "no_op": "for graphs only",
    "timestamp": "another answer each time",
    "random.get_global_generator": "state of the process",
    "random.set_global_generator*": "state of the process",
    "io.*": "files",
}
# Where the module is young: the functions that still want a line in cases/_tables.py.
AWAITED = [
    "image.*",
    "get_logger",
    "approx_top_k*",
    "math.approx_m*_k*",
    "*fftnd*",
    "signal.*rfft3d:fft_length",
    "signal.idct:axis",
    "strings.unicode_*:*",
    "linalg.eigh_tridiagonal:tol",
    "nn.compute_accidental_hits:seed",
    "nn.depthwise_conv2d_backprop_*:*",
    "nn.fixed_unigram_candidate_sampler:*",
    "nn.safe_embedding_lookup_sparse:allow_fast_lookup",
    "nn.with_space_to_batch:*",
    "linalg.lu_*:validate_args",
    "sets.intersection:validate_indices",
    "register_tensor_conversion_function:priority",
]


# Run only where the others leave a gap: what the tables make, of the functions with one, and then
# the families that add nothing to the others.
TABLES = ("bad_arguments", "argument_dtypes", "argument_shapes")
LAST = (*TABLES, "elementwise", "wrong_kinds", "foreign", "kinks", "numpy_api")


def test_every_function_is_called_with_every_argument() -> None:
    silent: list[str] = []

    def enough(met: dict[str, measure.Met]) -> bool:
        silent[:] = _silent(met)
        return not silent

    def wanted() -> Iterator[harness.Case]:
        for case in sorted(harness.load(), key=_late):
            last = case.family in TABLES and thinned.function(case).rpartition(".")[2]
            if not last or any(last == _last(one) for one in silent):
                yield case

    measure.measure(gradtape, wanted(), enough)
    assert not silent, f"lines in tests/tensorflow/cases/_tables.py are wanted for {silent}"


def _late(case: harness.Case) -> int:
    return LAST.index(case.family) + 1 if case.family in LAST else 0


def _last(name: str) -> str:
    """The last word of a function's name: `abs` of `math.abs:x`."""
    return name.partition(":")[0].rpartition(".")[2]


def _silent(met: dict[str, measure.Met]) -> list[str]:
    """The functions that were not called, and by `function:argument` what they were not given."""
    uncalled = [name for name, one in met.items() if not one.calls and not _exempt(name)]
    asked = {f"{name}:{one}" for name, found in met.items() for one in found.missing}
    return uncalled + sorted(
        one for one in asked if not _exempt(one) and not _exempt(one.split(":")[0])
    )


@functools.cache
def _exempt(name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in (*EXEMPT, *AWAITED))


def test_the_tables_name_functions_that_exist() -> None:
    from tests.tensorflow.cases._tables import ROWS

    gone = [name for name in ROWS if functions.named(gradtape, name) is None]
    assert not gone, f"in tests/tensorflow/cases/_tables.py, but not in gradtape: {gone}"
