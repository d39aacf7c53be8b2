"""`tf.data.experimental`: options, and older names of what `Dataset` has as methods."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..core.record import Value
from ..framework.namespaces import lookup
from ..io.records import framed
from . import selecting, sources, structure
from .dataset import Dataset
from .node import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, whole
from .optional import Optional
from .options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
)

__all__ = [
    "AUTOTUNE", "AutoShardPolicy", "AutotuneAlgorithm", "AutotuneOptions", "Counter",
    "DistributeOptions", "ExternalStatePolicy", "INFINITE_CARDINALITY", "OptimizationOptions",
    "Optional", "RandomDataset", "Reducer", "SHARD_HINT", "ServiceOptions", "TFRecordWriter",
    "ThreadingOptions", "UNKNOWN_CARDINALITY", "assert_cardinality", "at",
    "bucket_by_sequence_length", "cardinality", "choose_from_datasets", "copy_to_device",
    "dense_to_ragged_batch", "dense_to_sparse_batch", "enable_debug_mode", "enumerate_dataset",
    "from_list", "get_next_as_optional", "get_single_element", "get_structure", "group_by_reducer",
    "group_by_window", "ignore_errors", "load", "map_and_batch", "pad_to_cardinality",
    "parallel_interleave", "prefetch_to_device", "rejection_resample", "sample_from_datasets",
    "save", "scan", "shuffle_and_repeat", "snapshot", "take_while", "unbatch", "unique",
]  # fmt: skip
__getattr__ = lookup(__name__)

SHARD_HINT = -1
Transformation = Callable[[Any], Dataset]


def _older(method: str) -> Callable[..., Transformation]:
    """A function that gives what `Dataset.apply` takes."""

    def make(*args: Any, **kwargs: Any) -> Transformation:
        return lambda dataset: getattr(dataset, method)(*args, **kwargs)

    parameters = list(inspect.signature(getattr(Dataset, method)).parameters.values())[1:]
    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [one for one in parameters if one.name != "name"]
    )
    make.__name__ = make.__qualname__ = method
    differs = (getattr(Dataset, method).__doc__ or "").partition("Differs from TensorFlow: ")
    make.__doc__ = f"`Dataset.{method}`, for `Dataset.apply`.\n\n{''.join(differs[1:])}"
    return make


bucket_by_sequence_length = _older("bucket_by_sequence_length")
enumerate_dataset = _older("enumerate")
dense_to_ragged_batch = _older("ragged_batch")
group_by_window = _older("group_by_window")
ignore_errors = _older("ignore_errors")
rejection_resample = _older("rejection_resample")
scan = _older("scan")
take_while = _older("take_while")
unbatch = _older("unbatch")
unique = _older("unique")
snapshot = _older("snapshot")
dense_to_sparse_batch = _older("sparse_batch")


def choose_from_datasets(
    datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False
) -> Dataset:
    """`Dataset.choose_from_datasets`, which goes on when one of them ends."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False
) -> Dataset:
    """`Dataset.sample_from_datasets`."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Dataset:
    """`Dataset.counter`."""
    return Dataset.counter(start, step, dtype)


class RandomDataset(Dataset):
    """`Dataset.random` by its older name."""

    def __init__(
        self, seed: Any = None, rerandomize_each_iteration: bool | None = None, name: Any = None
    ) -> None:
        super().__init__(sources.Random(seed, bool(rerandomize_each_iteration)))


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """A dataset with a known number of elements, which is checked.

    >>> import gradtape as tf
    >>> dataset = tf.data.Dataset.range(5).filter(lambda x: x < 3)
    >>> int(dataset.apply(tf.data.experimental.assert_cardinality(3)).cardinality())
    3
    """

    def checked(dataset: Any) -> Dataset:
        count = whole(expected_cardinality, "expected_cardinality")
        return Dataset(selecting.AssertCardinality(dataset._node, count))

    return checked


def cardinality(dataset: Any) -> Any:
    """The number of elements of a dataset, as far as it is known."""
    return dataset.cardinality()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The structure of specs of an element."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a Dataset or Iterator "
            f"object, but got {type(dataset_or_iterator)}."
        ) from None


def get_single_element(dataset: Any) -> Any:
    """The only element of a dataset."""
    if not isinstance(dataset, Dataset):
        raise TypeError(
            f"Invalid `dataset`. Expected a `tf.data.Dataset` object but got {type(dataset)}."
        )
    return dataset.get_single_element()


def get_next_as_optional(iterator: Any) -> Any:
    """The next element of an iterator, or that there is none."""
    return iterator.get_next_as_optional()


def save(
    dataset: Any,
    path: Any,
    compression: Any = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> None:
    """`Dataset.save`."""
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(
    path: Any,
    element_spec: Any = None,
    compression: Any = None,
    reader_func: Callable[..., Any] | None = None,
) -> Dataset:
    """`Dataset.load`."""
    return Dataset.load(path, element_spec, compression, reader_func)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`shuffle` and then `repeat`.

    Differs from TensorFlow: the passes are shuffled with other seeds.
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """`map` and then `batch`."""
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(
        batch_size, drop_remainder
    )


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: Any = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """`Dataset.interleave`."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """`Dataset.prefetch`: there is one device."""
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Transformation:
    """The dataset itself: there is one device."""
    return lambda dataset: dataset


def enable_debug_mode() -> None:
    """Accepted: functions of elements run in Python under `tf.config.run_functions_eagerly`."""


def at(dataset: Any, index: Any) -> Any:
    """The element of some number."""
    number = whole(index, "index")
    for element in dataset.skip(number).take(1):
        return element
    raise errors.OutOfRangeError(None, None, f"Index out of range [0, {number}]")


def from_list(elements: Any, name: Any = None) -> Dataset:
    """A dataset of elements that are in a list.

    >>> import gradtape as tf
    >>> [int(x) for x in tf.data.experimental.from_list([1, 2])]
    [1, 2]
    """
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    if not elements:
        raise ValueError("Input `elements` should not be empty.")
    found = [structure.normalised(element) for element in elements]
    spec = found[0][0]
    for other, _ in found[1:]:
        spec = structure.common(spec, other)
    made = sources.Elements([leaves for _, leaves in found], spec)
    made.label = "_ListDataset"
    return Dataset(made)


def pad_to_cardinality(cardinality: Any, mask_key: str = "valid") -> Transformation:
    """A dataset of dictionaries, filled up with zeros; `mask_key` tells which are its own."""

    def padded(dataset: Any) -> Dataset:
        wanted, spec = whole(cardinality, "cardinality"), dataset.element_spec
        if not isinstance(spec, dict):
            raise ValueError(
                f"`pad_to_cardinality` requires its input dataset to be a dictionary, got {spec}."
            )
        count = int(dataset.cardinality())
        if count < 0:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a known cardinality, but "
                f"has cardinality {count}"
            )
        if count > wanted:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a cardinality less than "
                f"the target cardinality ({wanted}), but has cardinality {count}"
            )
        if mask_key in spec:
            raise ValueError(f"The key '{mask_key}' is taken: {spec}.")
        zeros = structure.map_leaves(
            lambda one: tensor(np.zeros(one.shape.as_list(), one.dtype.as_numpy_dtype)[()]), spec
        )
        true, false = tensor(np.True_), tensor(np.False_)
        own = dataset.map(lambda x: {**x, mask_key: true})
        filling = Dataset.from_tensors({**zeros, mask_key: false}).repeat(wanted - count)
        return own.concatenate(filling)

    return padded


class Reducer:
    """How `group_by_reducer` makes a result of the elements with one key."""

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self._init_func = init_func
        self._reduce_func = reduce_func
        self._finalize_func = finalize_func

    init_func = property(lambda self: self._init_func, doc="The state of a key at the beginning.")
    reduce_func = property(lambda self: self._reduce_func, doc="The state after an element.")
    finalize_func = property(lambda self: self._finalize_func, doc="What a state becomes.")


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """One element for each key, made of all elements that have it."""

    def reduced(dataset: Any) -> Dataset:
        def result(key: Any, group: Any) -> Dataset:
            state = group.reduce(reducer.init_func(key), reducer.reduce_func)
            args = state if type(state) is tuple else (state,)
            return Dataset.from_tensors(reducer.finalize_func(*args))

        return dataset.group_by_window(key_func, result, window_size=2**62)

    return reduced


class TFRecordWriter:
    """Writes a dataset of strings into a TFRecord file."""

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        if compression_type:
            raise errors.UnimplementedError(None, None, "TFRecordWriter does not compress.")
        self._file = filename

    def write(self, dataset: Any) -> None:
        """Write all elements."""
        spec = dataset.element_spec
        if getattr(spec, "dtype", None) != dtypes.string or spec.shape.rank:
            raise TypeError(
                "`dataset` must produce scalar `DT_STRING` tensors whereas it produces elements "
                f"of {spec}."
            )
        with open(self._file, "wb") as file:
            for (leaf,) in dataset._node.elements():
                assert isinstance(leaf, Value)
                file.write(framed(leaf._value.item()))
