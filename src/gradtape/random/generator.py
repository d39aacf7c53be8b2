"""`tf.random.Generator`: a stream of random numbers as an object, whose state is a variable."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..core.record import threads
from ..framework import convert
from ..framework.tracking import Trackable
from ..framework.variable import Variable
from ..ops import chance
from ..ops.kernels.philox import LONG, RESERVED, Stream
from ..ops.shape import stack
from .draws import drawn, numpy_dtype, shape_of
from .stateless import Algorithm, algorithm_of, binomial_of, deviates, uniform_of

_INT64 = np.dtype(np.int64)


def _signed(numbers: Any) -> Any:
    return np.array([n & LONG for n in numbers], np.uint64).view(np.int64)


def _stream(state: Any) -> Any:
    return (
        Stream(*_place(state))
        if threads.recording is None
        else threads.recording.place(_place, state)
    )


def _place(state: Any) -> tuple[int, int]:
    """The key and the counter."""
    low, high, key = state.tolist()
    return key & LONG, low & LONG | (high & LONG) << 64


def create_rng_state(seed: Any, alg: Any) -> Any:
    """The state that a seed stands for: a number, cut into 64-bit parts, or such parts."""
    if alg is None:
        raise TypeError("Can't convert argument `alg` (of value None) to int.")
    size = 2 if algorithm_of(alg) is Algorithm.THREEFRY else 3
    if isinstance(seed, int):
        return tensor(_signed(seed >> 64 * k for k in range(size)))
    parts = np.ravel(convert.to_tensor(seed)._value)
    if parts.dtype.kind not in "iufb":
        raise errors.UnimplementedError(None, None, f"Cast of the seed {seed!r} to int64")
    parts = parts.astype(np.int64)[:size]
    return tensor(np.concatenate([np.zeros(size - len(parts), np.int64), parts]))


class Generator(Trackable):
    """A source of random numbers with a state of its own.

    >>> import gradtape as tf
    >>> g = tf.random.Generator.from_seed(1)
    >>> g.normal([2])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([ 0.43842274, -0.53439844], dtype=float32)>
    """

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("copy_from takes the state and the algorithm: give it alone.")
            state, alg = copy_from.state.numpy(), copy_from.algorithm
        if state is None or alg is None:
            raise AssertionError(
                "A generator needs a state and an algorithm: tf.random.Generator.from_seed(1) and "
                "from_non_deterministic_state() make one."
            )
        self._algorithm = algorithm_of(alg)
        state = np.asarray(convert.to_tensor(state)._value).astype(np.int64)
        self._check(state)
        self._state = Variable(state, trainable=False, name="StateVar", dtype=dtypes.int64)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {"_state_var": self._state}  # TensorFlow's name, which checkpoints have

    def _check(self, state: Any) -> None:
        size = 2 if self._algorithm is Algorithm.THREEFRY else 3
        if state.shape != (size,):
            raise ValueError(f"Shapes {state.shape} and [{size}] are incompatible")

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """From one number, or from an array of them."""
        alg = "philox" if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """From a state that another generator had."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """From the system's entropy: different in every run."""
        state = np.frombuffer(os.urandom(24), np.int64)
        return cls(state=state, alg="philox" if alg is None else alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """From the two parts of a state."""
        return cls(state=_joined(key, counter), alg=alg)

    def reset(self, state: Any) -> None:
        """Take another state."""
        state = np.asarray(convert.to_tensor(state)._value).astype(np.int64)
        self._check(state)
        self._state.assign(state)

    def reset_from_seed(self, seed: Any) -> None:
        """Start again from a seed."""
        self.reset(create_rng_state(seed, self._algorithm))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Start again from the two parts of a state."""
        self.reset(_joined(key, counter))

    @property
    def state(self) -> Variable:
        """The counter (two numbers, the low one first) and the key."""
        return self._state

    @property
    def algorithm(self) -> int:
        """The number of the algorithm."""
        return self._algorithm.value

    @property
    def key(self) -> Any:
        """The part of the state that draws do not change."""
        if self._algorithm is Algorithm.THREEFRY:
            raise ValueError("Unsupported algorithm id: the ThreeFry algorithm has no key here.")
        return tensor(np.int64(self._state.numpy()[-1]))

    def skip(self, delta: Any) -> Any:
        """Move on as if this many numbers had been drawn; the state before that."""
        return tensor(self._move(int(convert.to_tensor(delta)._value) * RESERVED))

    def _move(self, blocks: int) -> Any:
        """Set blocks aside for one draw, whatever other threads draw; the state before."""
        if self._algorithm is Algorithm.THREEFRY:
            raise errors.UnimplementedError(
                None, None, "Non-XLA devices don't support the ThreeFry algorithm: use 'philox'."
            )

        def moved(state: Any) -> Any:
            stream = Stream(*_place(state))
            stream.reserve(blocks)
            return _signed([stream.counter, stream.counter >> 64, stream.key])

        return self._state._exchange(moved)

    def _reserve(self, blocks: int) -> Stream:
        return _stream(self._move(blocks))

    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Any:
        """Normal deviates; gradients flow to `mean` and `stddev`."""
        return deviates(chance.normal, self._reserved, shape, mean, stddev, dtype)

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Any:
        """Normal deviates no further than two deviations from the mean."""
        return deviates(chance.truncated, self._reserved, shape, mean, stddev, dtype)

    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Any:
        """Numbers in [minval, maxval); whole ones of the full range if both are None."""
        found = dtypes.as_dtype(dtype)
        if found.is_integer and (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer dtype {found!r}, minval and maxval must be both `None` or both "
                f"non-`None`; got minval={minval} and maxval={maxval}"
            )
        return uniform_of(self._reserved, shape, minval, maxval, dtype)

    def _reserved(self, count: int) -> Stream:
        return self._reserve(count * RESERVED)

    def uniform_full_int(
        self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None
    ) -> Any:
        """Whole numbers of the dtype's full range."""
        if not dtypes.as_dtype(dtype).is_integer or numpy_dtype(dtype).itemsize < 4:
            raise errors.wrong_dtype(
                f"Value for attr 'dtype' of {dtypes.as_dtype(dtype).name} is not in the list of "
                "allowed values: int32, int64, uint32, uint64 [Op:StatelessRandomUniformFullIntV2]"
            )
        return uniform_of(self._reserved, shape, None, None, dtype)

    def binomial(
        self,
        shape: Any,
        counts: Any,
        probs: Any,
        dtype: Any = dtypes.int32,
        name: str | None = None,
    ) -> Any:
        """How many of `counts` trials succeed.

        Differs from TensorFlow: the distribution is the same, the numbers are not.
        """
        batches = math.prod(
            np.broadcast_shapes(*(convert.to_tensor(v)._value.shape for v in (counts, probs)))
        )
        each = math.prod(shape_of(shape, chance.binomial.label)) // max(batches, 1)
        # What TensorFlow's kernel sets aside, so that what follows agrees.
        stream = self._reserve(batches * (each + 3) * 12800)
        return binomial_of(chance.binomial, stream, shape, counts, probs, dtype)

    def make_seeds(self, count: int = 1) -> Any:
        """Seeds for the stateless functions, one in each column."""
        keys = self._keys(count)
        return stack.apply(keys, tensor(np.zeros_like(keys._value)), axis=-2)

    def _keys(self, count: int) -> Any:
        return drawn(chance.integers, self._reserved(count), shape=(count,), dtype=_INT64)

    def split(self, count: int = 1) -> list[Generator]:
        """New generators, independent of this one and of each other."""
        keys = self._keys(count)._value
        return [Generator.from_key_counter(key, [0, 0], self._algorithm) for key in keys]


def _joined(key: Any, counter: Any) -> Any:
    parts = [np.atleast_1d(convert.to_tensor(v)._value).astype(np.int64) for v in (counter, key)]
    return np.concatenate(parts)


_shared: list[Generator] = []


def get_global_generator() -> Generator:
    """The generator that all share; made from entropy if nobody set one."""
    if not _shared:
        _shared.append(Generator.from_non_deterministic_state())
    return _shared[0]


def set_global_generator(generator: Generator) -> None:
    """Let all share this generator."""
    _shared[:] = [generator]
