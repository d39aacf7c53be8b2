"""`tf.data.Options`: what TensorFlow's runtime is told about a pipeline.

They are kept and merged as TensorFlow does it. `deterministic` is obeyed; the others speak of an
optimizer, devices and services that are not here, and change nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any


class AutotuneAlgorithm(enum.Enum):
    """How TensorFlow looks for the best number of threads."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is shared among workers; there is one here."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What to do about state that cannot be saved."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class OptionsBase:
    """Options that are checked when they are set."""

    def __init__(self) -> None:
        object.__setattr__(self, "_options", {})
        object.__setattr__(self, "_mutable", True)

    _options: dict[str, Any]
    _mutable: bool

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        names = {*self._options, *other._options}
        return all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: Any) -> None:
        if not self._mutable:
            raise ValueError(
                "Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no "
                "effect. Use `tf.data.Dataset.with_options(options)` to set or update dataset "
                "options."
            )
        if not hasattr(self, name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def _frozen(self) -> Any:
        """The same, which cannot be changed any more."""
        for value in self._options.values():
            if isinstance(value, OptionsBase):
                value._frozen()
        object.__setattr__(self, "_mutable", False)
        return self


def _option(name: str, kind: type, doc: str, make: Callable[[], Any] = lambda: None) -> Any:
    def get(self: OptionsBase) -> Any:
        if name not in self._options:
            self._options[name] = make()
        return self._options[name]

    def put(self: OptionsBase, value: Any) -> None:
        if not isinstance(value, kind):
            raise TypeError(
                f'Property "{name}" must be of type {kind}, got: {value} (type: {type(value)})'
            )
        self._options[name] = value

    return property(get, put, None, doc)


def _declare(cls: type, options: dict[str, tuple[Any, ...]]) -> None:
    for name, (kind, doc, *make) in options.items():
        setattr(cls, name, _option(name, kind, doc, *make))


class AutotuneOptions(OptionsBase):
    """Options of the search for the best number of threads."""


_declare(AutotuneOptions, {
    "enabled": (bool, "Whether to search at all."),
    "cpu_budget": (int, "The number of cores to use."),
    "ram_budget": (int, "The bytes of memory to use."),
    "autotune_algorithm": (AutotuneAlgorithm, "How to search."),
    "initial_parallelism": (int, "The number of threads to begin with."),
    "min_parallelism": (int, "The least number of threads."),
})  # fmt: skip


class DistributeOptions(OptionsBase):
    """Options for several workers."""


_declare(DistributeOptions, {
    "auto_shard_policy": (AutoShardPolicy, "How to share elements.", lambda: AutoShardPolicy.AUTO),
    "num_devices": (int, "The number of devices."),
})  # fmt: skip


class OptimizationOptions(OptionsBase):
    """Options for rewriting a pipeline."""


_declare(OptimizationOptions, {
    name: (bool, f"Whether TensorFlow rewrites pipelines by {name.replace('_', ' ')}.")
    for name in (
        "apply_default_optimizations", "filter_fusion", "filter_parallelization",
        "inject_prefetch", "seq_interleave_prefetch", "map_and_batch_fusion",
        "map_and_filter_fusion", "map_fusion", "map_parallelization", "noop_elimination",
        "parallel_batch", "shuffle_and_repeat_fusion",
    )
})  # fmt: skip


class ServiceOptions(OptionsBase):
    """Options for the data service."""


_declare(ServiceOptions, {"pinned": (bool, "Whether memory is pinned.")})


class ThreadingOptions(OptionsBase):
    """Options for threads."""


_declare(ThreadingOptions, {
    "max_intra_op_parallelism": (int, "The largest number of threads of one op."),
    "private_threadpool_size": (int, "The number of threads of the pipeline's own pool."),
})  # fmt: skip


class Options(OptionsBase):
    """Options of a dataset, for `Dataset.with_options`.

    >>> import gradtape as tf
    >>> options = tf.data.Options()
    >>> options.deterministic = False
    >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
    False
    """

    def merge(self, options: Any) -> Any:
        """These and the others, which win."""
        return merged(self, options)


_declare(Options, {
    "autotune": (AutotuneOptions, "The search for the best number of threads.", AutotuneOptions),
    "deterministic": (bool, "Whether elements come in the same order every time."),
    "experimental_deterministic": (bool, "The old name of `deterministic`."),
    "experimental_distribute": (DistributeOptions, "For several workers.", DistributeOptions),
    "experimental_external_state_policy": (ExternalStatePolicy, "State that cannot be saved."),
    "experimental_optimization": (OptimizationOptions, "Rewriting.", OptimizationOptions),
    "experimental_slack": (bool, "Whether to leave time to the consumer."),
    "experimental_symbolic_checkpoint": (bool, "How iterators are saved."),
    "experimental_service": (ServiceOptions, "The data service.", ServiceOptions),
    "experimental_threading": (ThreadingOptions, "The old name of `threading`."),
    "experimental_warm_start": (bool, "Whether threads start before the first element is asked."),
    "dataset_name": (str, "A name for logs."),
    "framework_type": (list, "The frameworks that made the dataset."),
    "threading": (ThreadingOptions, "Threads.", ThreadingOptions),
})  # fmt: skip
# The old names are second names of the same options.
Options.experimental_deterministic = Options.deterministic  # type: ignore[attr-defined]
Options.experimental_threading = Options.threading  # type: ignore[attr-defined]


def merged(*several: Any) -> Any:
    """All options; where two say different things, the later one."""
    made = type(several[0])()
    for options in several:
        if type(options) is not type(made):
            raise TypeError(
                f"Could not merge incompatible options of type {type(options)} and {type(made)}."
            )
        for name, value in options._options.items():
            before = made._options.get(name)
            if isinstance(value, OptionsBase) and before is not None:
                value = merged(before, value)
            made._options[name] = value if value is not None else before
    return made
