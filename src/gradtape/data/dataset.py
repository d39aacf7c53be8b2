"""`tf.data.Dataset`: the methods that users chain. What they do stands with the nodes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..core.record import threads
from ..framework import convert
from ..io.gfile import make_folders
from . import batching, combining, grouping, keeping, mapping, saving, selecting, sources
from .choosing import bucketed, chosen_from, rejected, sampled
from .iterators import Iterator, NumpyIterator, handle, loop, outside, spec_of
from .node import AUTOTUNE, INFINITE, UNKNOWN, Node, NotKnownYet, plain, walk, whole
from .options import Options, merged
from .specs import DatasetSpec


class Dataset:
    """Elements that a pipeline makes when they are asked for, as often as it is gone through.

    >>> import gradtape as tf
    >>> dataset = tf.data.Dataset.from_tensor_slices([1, 2, 3, 4])
    >>> for batch in dataset.map(lambda x: x * 10).batch(2):
    ...     print(batch.numpy())
    [10 20]
    [30 40]
    """

    def __init__(self, variant_tensor: Any) -> None:
        self._node: Node = variant_tensor

    # --- going through it -------------------------------------------------------------------------
    def __iter__(self) -> Any:
        if threads.recording is not None:
            return loop(self._node)
        return Iterator(tensor(handle(self._node)))

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        """The number of elements, if it is known."""
        count = self._node.cardinality()
        if count == INFINITE:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return count

    def __repr__(self) -> str:
        try:
            spec: Any = self._node.spec()
        except NotKnownYet:  # which the first element tells
            spec = "<unknown>"
        return f"<{self._node.label} element_spec={spec}>"

    @property
    def element_spec(self) -> Any:
        """The structure of specs of an element.

        >>> import gradtape as tf
        >>> tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]).batch(2).element_spec
        TensorSpec(shape=(None, 2), dtype=tf.int32, name=None)
        """
        return spec_of(self._node)

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    def as_numpy_iterator(self) -> NumpyIterator:
        """The elements as NumPy arrays.

        >>> import gradtape as tf
        >>> list(tf.data.Dataset.range(3).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        return NumpyIterator(self)

    def cardinality(self) -> Any:
        """The number of elements, `INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`."""
        return tensor(np.int64(self._node.cardinality()))

    def get_single_element(self, name: Any = None) -> Any:
        """The only element."""

        def single() -> list[Any]:
            elements = self._node.elements()
            first = next(elements, None)
            if first is None:
                raise errors.invalid("Dataset was empty. [Op:DatasetToSingleElement] name: ")
            if next(elements, None) is not None:
                raise errors.invalid(
                    "Dataset had more than one element. [Op:DatasetToSingleElement] name: "
                )
            return first

        return outside("get_single_element", single, lambda: self.element_spec)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: Any = None) -> Any:
        """The state after a function of it and of every element.

        >>> import gradtape as tf
        >>> int(tf.data.Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x))
        10
        """
        node = self._node
        folding = mapping.Folding(reduce_func, initial_state, node, "reduce", gives_more=False)

        def run() -> list[Any]:
            state = folding.first
            for element in node.elements():
                state, _ = folding.step(state, element)
            return state

        return outside("reduce", run, lambda: folding.spec)

    # --- sources ----------------------------------------------------------------------------------
    @staticmethod
    def from_tensors(tensors: Any, name: Any = None) -> Dataset:
        """One element: a structure of tensors."""
        return Dataset(sources.Tensors(tensors))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: Any = None) -> Dataset:
        """The rows of tensors."""
        return Dataset(sources.Slices(tensors))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: Any = None,
    ) -> Dataset:
        """What a Python generator yields; `generator` is called for each pass.

        >>> import gradtape as tf
        >>> def count(stop):
        ...     yield from range(stop)
        >>> spec = tf.TensorSpec([], tf.int32)
        >>> dataset = tf.data.Dataset.from_generator(count, args=[2], output_signature=spec)
        >>> [int(x) for x in dataset]
        [0, 1]
        """
        signature = output_types, output_shapes, args, output_signature
        return Dataset(sources.Generator(generator, *signature))

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> Dataset:
        """Whole numbers, as Python's `range` counts them; of `output_type`, if that is given."""
        return Dataset(sources.Range(args, kwargs.get("output_type", dtypes.int64)))

    @staticmethod
    def counter(
        start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: Any = None
    ) -> Dataset:
        """Numbers that go on for ever."""
        return Dataset(sources.Counter(start, step, dtype))

    @staticmethod
    def random(
        seed: Any = None, rerandomize_each_iteration: bool | None = None, name: Any = None
    ) -> Dataset:
        """Random whole numbers from 0 to 2**32 - 1, TensorFlow's own for a seed."""
        return Dataset(sources.Random(seed, bool(rerandomize_each_iteration)))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: Any = None
    ) -> Dataset:
        """The names of the files that match a pattern, or one of several."""
        from .files import matching

        names = Dataset.from_tensor_slices(matching(file_pattern))
        if shuffle is None or shuffle:
            return names.shuffle(max(len(names), 1), seed=seed)
        return names

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: Any = None) -> Dataset:
        """Elements of several datasets side by side."""
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        if datasets is None:
            datasets = args[0] if len(args) == 1 else args
        return Dataset(combining.Zip(datasets))

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Elements of datasets that are drawn by their weights."""
        again = rerandomize_each_iteration
        return sampled(list(datasets), weights, seed, stop_on_empty_dataset, again)

    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Elements of the datasets that a dataset of numbers names."""
        return chosen_from(list(datasets), choice_dataset, stop_on_empty_dataset)

    # --- functions of elements --------------------------------------------------------------------
    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: Any = None,
    ) -> Dataset:
        """A function of every element. Python itself runs once, as in `tf.function`.

        Differs from TensorFlow: where sizes of elements are not known, Python runs for each.
        """
        calls = None if num_parallel_calls is None else whole(num_parallel_calls, "parallel calls")
        if calls is not None and calls < 1 and calls != AUTOTUNE:
            raise errors.invalid("num_parallel_calls must be greater than zero.")
        if deterministic is None:
            deterministic = self._options_set().deterministic is not False
        return Dataset(mapping.Map(self._node, map_func, calls, deterministic))

    def flat_map(self, map_func: Callable[..., Any], name: Any = None) -> Dataset:
        """The elements of the datasets that a function gives, one dataset after the other."""
        return Dataset(mapping.FlatMap(self._node, map_func))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: Any = None,
    ) -> Dataset:
        """The elements of `cycle_length` datasets at a time, `block_length` of each in turn."""
        cycle = AUTOTUNE if cycle_length is None else whole(cycle_length, "cycle_length")
        block = 1 if block_length is None else whole(block_length, "block_length")
        if cycle < 1 and cycle != AUTOTUNE:
            raise errors.invalid("`cycle_length` must be > 0")
        if block < 1:
            raise errors.invalid("`block_length` must be > 0")
        return Dataset(mapping.Interleave(self._node, map_func, cycle, block))

    def filter(self, predicate: Callable[..., Any], name: Any = None) -> Dataset:
        """The elements that a function says yes to."""
        return Dataset(selecting.Chosen(self._node, predicate, "filter"))

    def take_while(self, predicate: Callable[..., Any], name: Any = None) -> Dataset:
        """The elements up to the first that a function says no to."""
        return Dataset(selecting.Chosen(self._node, predicate, "take_while"))

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: Any = None) -> Dataset:
        """What a function of a state and of each element gives beside the next state."""
        return Dataset(mapping.Scan(self._node, initial_state, scan_func))

    def ignore_errors(self, log_warning: bool = False, name: Any = None) -> Dataset:
        """The elements that could be computed."""
        return Dataset(selecting.IgnoreErrors(self._node, log_warning))

    # --- which, and in which order ----------------------------------------------------------------
    def take(self, count: Any, name: Any = None) -> Dataset:
        """The first `count` elements; all, if that is -1."""
        return Dataset(selecting.Take(self._node, whole(count, "count")))

    def skip(self, count: Any, name: Any = None) -> Dataset:
        """All but the first `count` elements; none, if that is -1."""
        return Dataset(selecting.Skip(self._node, whole(count, "count")))

    def shard(self, num_shards: Any, index: Any, name: Any = None) -> Dataset:
        """Every `num_shards`-th element, beginning with that of number `index`."""
        numbers = whole(num_shards, "num_shards"), whole(index, "index")
        return Dataset(selecting.Shard(self._node, *numbers))

    def repeat(self, count: Any = None, name: Any = None) -> Dataset:
        """The elements `count` times; for ever, if that is None or -1."""
        return Dataset(selecting.Repeat(self._node, -1 if count is None else whole(count, "count")))

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = True,
        name: Any = None,
    ) -> Dataset:
        """The elements in a random order: TensorFlow's own for a seed.

        >>> import gradtape as tf
        >>> dataset = tf.data.Dataset.range(5).shuffle(5, seed=1)
        >>> sorted(int(x) for x in dataset)
        [0, 1, 2, 3, 4]
        """
        seed = None if seed is None else whole(seed, "seed")
        again = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        buffer = whole(buffer_size, "buffer_size")
        return Dataset(selecting.Shuffle(self._node, buffer, seed, again))

    def concatenate(self, dataset: Any, name: Any = None) -> Dataset:
        """The elements of this dataset, then those of the other."""
        made = selecting.Concatenate(self._node, dataset._node)
        made.spec()
        return Dataset(made)

    def enumerate(self, start: Any = 0, name: Any = None) -> Dataset:
        """Pairs of a number and an element."""
        return Dataset(combining.Enumerate(self._node, whole(start, "start")))

    def unique(self, name: Any = None) -> Dataset:
        """Each element once, where it comes first."""
        return Dataset(selecting.Unique(self._node))

    # --- groups -----------------------------------------------------------------------------------
    def batch(
        self,
        batch_size: Any,
        drop_remainder: Any = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: Any = None,
    ) -> Dataset:
        """`batch_size` elements as one; rows of tensors are gathered at once."""
        made = batching.Batch(self._node, whole(batch_size, "batch_size"), bool(drop_remainder))
        if num_parallel_calls is not None:
            made.label = "_ParallelBatchDataset"
        return Dataset(made)

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: Any = False,
        name: Any = None,
    ) -> Dataset:
        """`batch_size` elements as one, filled up to the size of the largest."""
        size = whole(batch_size, "batch_size")
        self.element_spec  # noqa: B018 - needed here, whatever it takes
        shapes = padded_shapes, padding_values
        return Dataset(batching.PaddedBatch(self._node, size, *shapes, bool(drop_remainder)))

    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: Any = False,
        row_splits_dtype: Any = dtypes.int64,
        name: Any = None,
    ) -> Dataset:
        """`batch_size` elements as one, with rows of different lengths."""
        size, splits = whole(batch_size, "batch_size"), dtypes.as_dtype(row_splits_dtype)
        return Dataset(batching.Batch(self._node, size, bool(drop_remainder), splits))

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: Any = None) -> Dataset:
        """`batch_size` elements as the rows of a sparse tensor."""
        size = whole(batch_size, "batch_size")
        return Dataset(batching.SparseBatch(self._node, size, row_shape))

    def unbatch(self, name: Any = None) -> Dataset:
        """The rows of every element."""
        self.element_spec  # noqa: B018
        return Dataset(batching.Unbatch(self._node))

    def rebatch(self, batch_size: Any, drop_remainder: Any = False, name: Any = None) -> Dataset:
        """Batches of another size, or of several in turn."""
        sizes = plain(convert.to_tensor(batch_size, hint=np.dtype(np.int64)))._value
        if sizes.ndim > 1:
            raise ValueError(
                "Invalid `batch_sizes`. Expected `batch_sizes` to be a scalar or a vector. "
                f"Received `batch_sizes` of rank {sizes.ndim}."
            )
        self.element_spec  # noqa: B018
        sizes = np.atleast_1d(sizes).tolist()
        return Dataset(batching.Rebatch(self._node, sizes, bool(drop_remainder)))

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: Any = False,
        name: Any = None,
    ) -> Dataset:
        """Datasets of `size` neighbours, each `shift` further on.

        >>> import gradtape as tf
        >>> windows = tf.data.Dataset.range(4).window(2, shift=1, drop_remainder=True)
        >>> [w.numpy().tolist() for w in windows.flat_map(lambda window: window.batch(2))]
        [[0, 1], [1, 2], [2, 3]]
        """
        reach = whole(size, "size")
        step = reach if shift is None else whole(shift, "shift")
        numbers = reach, step, whole(stride, "stride")
        return Dataset(grouping.Window(self._node, *numbers, bool(drop_remainder)))

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: Any = None,
        window_size_func: Callable[..., Any] | None = None,
        name: Any = None,
    ) -> Dataset:
        """Elements with one key as a dataset, which `reduce_func` makes another of."""
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "Either the `window_size` argument or the `window_size_func` argument must be "
                "specified."
            )
        if window_size_func is None:
            size = whole(window_size, "window_size")

            def window_size_func(key: Any) -> int:
                return size

        functions = key_func, reduce_func, window_size_func
        return Dataset(grouping.GroupByWindow(self._node, *functions))

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Any,
        bucket_batch_sizes: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: Any = None,
    ) -> Dataset:
        """Batches of elements of about one length."""
        padding = padded_shapes, padding_values, pad_to_bucket_boundary, no_padding
        lengths = element_length_func, list(bucket_boundaries), list(bucket_batch_sizes)
        return bucketed(self, *lengths, *padding, drop_remainder)

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: Any = None,
        name: Any = None,
    ) -> Dataset:
        """Pairs of a class and an element, of which so many are left out that the classes come as
        often as `target_dist` says."""
        return rejected(self, class_func, target_dist, initial_dist, seed)

    # --- keeping ----------------------------------------------------------------------------------
    def cache(self, filename: Any = "", name: Any = None) -> Dataset:
        """The elements of the first whole pass, in memory or in a file, from then on.

        Differs from TensorFlow: the file is gradtape's own.
        """
        return Dataset(keeping.Cache(self._node, _text(filename)))

    def prefetch(self, buffer_size: Any, name: Any = None) -> Dataset:
        """Elements that a thread makes before they are asked for."""
        return Dataset(keeping.Prefetch(self._node, whole(buffer_size, "buffer_size")))

    def snapshot(
        self,
        path: Any,
        compression: Any = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: Any = None,
    ) -> Dataset:
        """The elements of the first whole pass, in a directory, from then on.

        Differs from TensorFlow: the file in it is gradtape's own, and not compressed.
        """
        folder = _text(path)
        make_folders(folder)
        return Dataset(keeping.Cache(self._node, os.path.join(folder, "snapshot")))

    def save(
        self,
        path: Any,
        compression: Any = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Write all elements into a directory.

        Differs from TensorFlow: the files are gradtape's own, and not compressed.
        """
        self.element_spec  # noqa: B018
        saving.save(self._node, _text(path), shard_func)

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: Any = None,
        reader_func: Callable[..., Any] | None = None,
        wait: bool = False,
    ) -> Dataset:
        """The dataset that was saved in a directory."""
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise TypeError(f"The path of a saved dataset is text, got {path!r}.")
        files = [Dataset(node) for node in saving.shards(_text(path), element_spec)]
        if reader_func is None and len(files) == 1:
            return files[0]
        spec = saving.saved_spec(_text(path)) if element_spec is None else element_spec
        several = Dataset(sources.Elements([[file] for file in files], DatasetSpec(spec)))
        if reader_func is not None:
            return reader_func(several)
        return several.interleave(lambda file: file, cycle_length=max(len(files), 1))

    # --- options and others -----------------------------------------------------------------------
    def apply(self, transformation_func: Callable[..., Any]) -> Dataset:
        """What a function makes of this dataset."""
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(
                f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}."
            )
        return made

    def with_options(self, options: Any, name: Any = None) -> Dataset:
        """The same elements, with options."""
        return Dataset(keeping.WithOptions(self._node, options))

    def _options_set(self) -> Any:
        return merged(
            Options(), *[n.options for n in reversed(list(walk(self._node))) if n.options]
        )

    def options(self) -> Any:
        """The options that were set on the way here."""
        return self._options_set()._frozen()

    def fingerprint(self) -> Any:
        """A number that is the same for pipelines of the same steps."""
        from zlib import crc32

        steps = "/".join(node.label for node in walk(self._node)) + str(self.element_spec)
        return tensor(np.int64(crc32(steps.encode())))


# Libraries tell a dataset by this name, without importing TensorFlow.
Dataset.__module__ = "tensorflow.python.data.ops.dataset_ops"
Dataset.__name__ = Dataset.__qualname__ = "DatasetV2"


def _text(value: Any) -> str:
    """A file name."""
    if hasattr(value, "_value"):
        value = plain(value)._value.item()
    return value.decode() if isinstance(value, bytes) else str(value)
