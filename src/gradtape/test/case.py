"""`tf.test.TestCase`: unittest's test case with assertions about tensors and arrays."""

# ruff: noqa: PT009 - the assertions of unittest are what it is made of.

from __future__ import annotations

import contextlib
import re
import tempfile
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes, errors, nest
from ..core.record import Value
from ..framework import convert


def _array(value: Any) -> Any:
    if isinstance(value, Value) or hasattr(value, "_read") or hasattr(value, "__tf_tensor__"):
        return convert.to_tensor(value).numpy()
    return np.asarray(value)


class TestCase(unittest.TestCase):
    """`unittest.TestCase` with assertions about tensors and arrays."""

    def evaluate(self, tensors: Any) -> Any:
        """Tensors as NumPy arrays, in the same structure."""
        one = lambda t: _array(t) if convert.is_tensor_like(t) else t
        return nest.map_structure(one, tensors)

    def _both(self, a: Any, b: Any, check: Callable[[Any, Any], None]) -> None:
        """Check arrays, or the leaves of two structures alike."""
        if isinstance(a, dict) or hasattr(a, "_fields"):
            nest.assert_same_structure(a, b)
            for left, right in zip(nest.flatten(a), nest.flatten(b), strict=True):
                check(_array(left), _array(right))
            return
        try:
            arrays = _array(a), _array(b)
        except (ValueError, TypeError):  # leaves of several shapes
            nest.assert_same_structure(a, b, check_types=False)
            for left, right in zip(a, b, strict=True):
                self._both(left, right, check)
            return
        check(*arrays)

    def _same_shape(self, x: Any, y: Any) -> None:
        if x.shape != y.shape:
            self.fail(f"Shape mismatch: expected {x.shape}, got {y.shape}.")

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        """The arrays, or the leaves of the structures, differ by no more than the tolerance."""

        def check(x: Any, y: Any) -> None:
            x, y = (v.astype(np.float32) if v.dtype.kind == "V" else v for v in (x, y))
            self.assertEqual(
                x.shape, y.shape, f"Shape mismatch: expected {x.shape}, got {y.shape}."
            )
            np.testing.assert_allclose(x, y, rtol=rtol, atol=atol, err_msg=msg or "")

        self._both(a, b, check)

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: Any = None,
    ) -> None:
        """As `assertAllClose`, with the tolerance of the coarser dtype."""
        names = {_array(a).dtype.name, _array(b).dtype.name}
        if names & {"float32", "complex64"}:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if "float16" in names:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if "bfloat16" in names:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        """Some elements differ by more than the tolerance."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        raise AssertionError(f"The two values are close at all elements. {msg or ''}")

    def assertAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """All elements are equal; NaN equals NaN."""

        def check(x: Any, y: Any) -> None:
            self.assertEqual(
                x.shape, y.shape, f"Shape mismatch: expected {x.shape}, got {y.shape}."
            )
            np.testing.assert_array_equal(x, y, err_msg=msg or "")

        self._both(a, b, check)

    def assertNotAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Some elements differ."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Every element is greater."""
        self.assertGreater(np.min(_array(a)), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Every element is greater, or equal."""
        self.assertGreaterEqual(np.min(_array(a)), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Every element is less."""
        self.assertLess(np.max(_array(a)), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Every element is less, or equal."""
        self.assertLessEqual(np.max(_array(a)), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Every element is between the bounds, NaN never."""
        x = _array(target)
        above = x > lower_bound if open_lower_bound else x >= lower_bound
        below = x < upper_bound if open_upper_bound else x <= upper_bound
        outside = np.argwhere(~(above & below))
        if len(outside):
            places = "\n".join(f"  {list(at)} : {x[tuple(at)]}" for at in outside[:10].tolist())
            raise AssertionError(
                f"{len(outside)} of the {x.size} element(s) are outside the range [{lower_bound}, "
                f"{upper_bound}]. Subscript(s) and value(s) of the offending elements:\n{places}"
            )

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Every element is one of these."""
        others = np.setdiff1d(_array(target), list(expected_set))
        if others.size:
            raise AssertionError(
                f"{others.size} unique element(s) are not in the set {expected_set}: {others}"
            )

    def assertNear(self, f1: float, f2: float, err: float, msg: Any = None) -> None:
        """Two numbers differ by no more than `err`."""
        self.assertTrue(
            f1 == f2 or abs(f1 - f2) <= err,
            f"{f1:f} != {f2:f} +/- {err:f} (difference: {abs(f1 - f2)}){f': {msg}' if msg else ''}",
        )

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: Any = None) -> None:
        """Each pair of numbers differs by no more than `err`."""
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: Any = None) -> None:
        """The norm of the difference is below `err`."""
        self.assertTrue(np.linalg.norm(_array(ndarray1) - _array(ndarray2)) < err, msg)

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: Any = None) -> None:
        """Both have one shape."""
        self.assertEqual(_array(input_a).shape, _array(input_b).shape, msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """The dtype is this one."""
        self.assertEqual(dtypes.of(_array(target).dtype), dtypes.as_dtype(expected_dtype))

    def assertStartsWith(self, actual: str, expected_start: str, msg: Any = None) -> None:
        """The text begins so."""
        if not actual.startswith(expected_start):
            self.fail(
                f"{actual!r} does not start with {expected_start!r}{f': {msg}' if msg else ''}"
            )

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """The block raises an exception with a message that a pattern, or a function, matches."""
        wanted = expected_err_re_or_predicate
        try:
            yield
        except exception_type as error:
            good = wanted(error) if callable(wanted) else re.search(wanted, str(error))
            if not good:
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
            return
        self.fail(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """The block raises one of TensorFlow's errors."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def get_temp_dir(self) -> str:
        """A directory that is removed after the test."""
        if not hasattr(self, "_directory"):
            self._directory = tempfile.TemporaryDirectory()
            self.addCleanup(self._directory.cleanup)
        return self._directory.name
