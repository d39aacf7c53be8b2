"""`tf.distribute`: the default strategy, which has one replica, and classes that are asked for."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator
from typing import Any

from .. import nest
from ..framework import convert
from ..framework.indexed_slices import IndexedSlices
from ..framework.namespaces import lookup
from ..math import reductions
from ..ragged import RaggedTensor

__getattr__ = lookup(__name__)

__all__ = [
    "DistributedDataset", "DistributedIterator", "DistributedValues", "InputContext",
    "MirroredStrategy", "MultiWorkerMirroredStrategy", "OneDeviceStrategy", "ReduceOp",
    "ReplicaContext", "RunOptions", "Strategy", "StrategyExtended", "TPUStrategy",
    "get_replica_context", "get_strategy", "has_strategy", "in_cross_replica_context",
]  # fmt: skip


class ReduceOp(enum.Enum):
    """How the values of replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        return ReduceOp.MEAN if aggregation.name == "MEAN" else ReduceOp.SUM


class DistributedValues:
    """What several replicas hold: there are none here, so nothing is of this class."""


class DistributedDataset:
    """A dataset for several replicas; nothing here is of this class."""


class DistributedIterator:
    """Its iterator."""


class InputContext:
    """Which part of the input a worker reads: all of it."""

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        return global_batch_size // self.num_replicas_in_sync


class RunOptions:
    """Options of `Strategy.run`, accepted."""

    def __init__(
        self,
        experimental_enable_dynamic_batch_size: bool = True,
        experimental_bucketizing_dynamic_shape: bool = False,
        experimental_xla_options: Any = None,
    ) -> None:
        self.experimental_enable_dynamic_batch_size = experimental_enable_dynamic_batch_size
        self.experimental_bucketizing_dynamic_shape = experimental_bucketizing_dynamic_shape
        self.experimental_xla_options = experimental_xla_options


class ReplicaContext:
    """The one replica."""

    def __init__(self, strategy: Strategy, replica_id_in_sync_group: int) -> None:
        self.strategy = strategy
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self.num_replicas_in_sync = 1
        self.devices = ("/job:localhost/replica:0/task:0/device:CPU:0",)

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Call the function with the strategy and what all replicas gave."""
        with _across():
            return merge_fn(self.strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Of one replica's values, the values; slices stay slices."""
        return nest.map_structure(_kept, value)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        if any(isinstance(one, IndexedSlices) for one in nest.flatten(value)):
            raise NotImplementedError("all_gather does not support IndexedSlices")
        return nest.map_structure(_kept, value)


def _kept(value: Any) -> Any:
    """Rows stay rows: an optimizer treats those of one index one by one."""
    composed = isinstance(value, (IndexedSlices, RaggedTensor))
    return value if composed else convert.to_tensor(value)


class StrategyExtended:
    """What libraries ask of a strategy."""

    def __init__(self, container_strategy: Strategy) -> None:
        self._strategy = container_strategy
        self.worker_devices = self.parameter_devices = ("/device:CPU:0",)

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: Any = True,
    ) -> Any:
        return fn(var, *args, **(kwargs or {}))

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        return value

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any = None
    ) -> list:
        return [value for value, _ in value_destination_pairs]

    def value_container(self, value: Any) -> Any:
        return value

    def variable_created_in_scope(self, v: Any) -> bool:
        return True

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable: Any) -> Iterator[None]:
        yield

    def non_slot_devices(self, var_list: Any) -> Any:
        return self.parameter_devices

    def call_for_each_replica(self, fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        return fn(*args, **(kwargs or {}))


class Strategy:
    """How work is shared: here one replica does it all.

    Differs from TensorFlow: all strategies run on this machine's CPU as one replica.
    """

    def __init__(self, extended: Any) -> None:
        self.extended = extended or StrategyExtended(self)

    @property
    def num_replicas_in_sync(self) -> int:
        return 1

    cluster_resolver = None

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """A block in which this strategy is the one that `get_strategy` gives."""
        _entered.append(self)
        try:
            yield self
        finally:
            _entered.remove(self)

    def run(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        """Call the function, in the context of the replica."""
        with _inside():
            return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """One value of all replicas', also over an axis."""
        if axis is None:
            return value
        name = getattr(reduce_op, "value", reduce_op)
        function = reductions.reduce_mean if name == "MEAN" else reductions.reduce_sum
        return nest.map_structure(lambda one: function(one, axis), value)

    def gather(self, value: Any, axis: int) -> Any:
        return value

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        return dataset_fn(InputContext())

    def experimental_distribute_values_from_function(self, value_fn: Any) -> Any:
        return value_fn(ReplicaContext(self, 0))

    def experimental_local_results(self, value: Any) -> tuple:
        return (value,)


class OneDeviceStrategy(Strategy):
    """All on one device, the CPU."""

    def __init__(self, device: Any) -> None:
        super().__init__(None)


class MirroredStrategy(Strategy):
    """One replica for each device: there is one."""

    def __init__(self, devices: Any = None, cross_device_ops: Any = None) -> None:
        super().__init__(None)


class MultiWorkerMirroredStrategy(Strategy):
    """One replica for each device of each worker: there is one."""

    def __init__(self, cluster_resolver: Any = None, communication_options: Any = None) -> None:
        super().__init__(None)


class TPUStrategy(Strategy):
    """For TPUs, of which there are none: a class to be asked for."""

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ) -> None:
        raise RuntimeError("There are no TPUs: gradtape computes on the CPU.")


_default = Strategy(None)
_entered: list[Strategy] = []
_contexts: list[bool] = []  # whether the block is one of all replicas, the innermost last


@contextlib.contextmanager
def _across() -> Iterator[None]:
    _contexts.append(True)
    try:
        yield
    finally:
        _contexts.pop()


@contextlib.contextmanager
def _inside() -> Iterator[None]:
    _contexts.append(False)
    try:
        yield
    finally:
        _contexts.pop()


def get_strategy() -> Strategy:
    """The strategy of the block, or the default one."""
    return _entered[-1] if _entered else _default


def has_strategy() -> bool:
    return bool(_entered)


def in_cross_replica_context() -> bool:
    """Whether this block speaks for all replicas: in the scope of a strategy."""
    return _contexts[-1] if _contexts else bool(_entered)


def get_replica_context() -> ReplicaContext | None:
    return None if in_cross_replica_context() else ReplicaContext(get_strategy(), 0)
