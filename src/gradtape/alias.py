"""Lets ``import tensorflow`` mean gradtape, and words the answer when a name is not here.

The module object for ``tensorflow`` *is* gradtape and the one for ``tensorflow.math`` *is*
``gradtape.math``: nothing is copied, so the two names can never disagree.
"""

from __future__ import annotations

import importlib
import importlib.abc
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

ALIAS = "tensorflow"
ENGINE = "gradtape"
SPAWN = "multiprocessing.spawn"


def install() -> None:
    """Make ``tensorflow`` and its submodules resolve to gradtape, before any other finder."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())
        if SPAWN in sys.modules:
            _follow(sys.modules[SPAWN])


class Finder:
    """Finds ``tensorflow`` and ``tensorflow.*`` among gradtape's own modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == SPAWN:
            return _following_spec(path)
        root, _, inner = fullname.partition(".")
        if root != ALIAS:
            return None
        module = _engine_module(inner)
        if module is None:
            # Any other finder would search gradtape's directory and load its files a second time.
            raise ModuleNotFoundError(missing_module(inner), name=fullname)
        # Always a package: `tensorflow.experimental.numpy` may be an attribute of a plain module.
        return ModuleSpec(fullname, Loader(module), is_package=True)


class Loader(importlib.abc.Loader):
    """Hands out a module that is loaded already, and leaves it as it was."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has just put the alias's spec in place of the module's own.
        alias, module.__spec__ = module.__spec__, self.spec
        assert alias is not None
        sys.modules.setdefault(ENGINE + alias.name.removeprefix(ALIAS), module)


def _engine_module(inner: str) -> ModuleType | None:
    """Return gradtape's module of that dotted name, or None if it has none."""
    if inner.partition(".")[0] in PRIVATE:
        return None
    found: Any = importlib.import_module(ENGINE)
    for name in inner.split(".") if inner else ():
        found = getattr(found, name, None)
    return found if isinstance(found, ModuleType) else None


# --- into processes that multiprocessing starts afresh --------------------------------------------


def _following_spec(path: Sequence[str] | None) -> ModuleSpec | None:
    """Return multiprocessing's own spec, changed to call `_follow` once the module is there."""
    spec = PathFinder.find_spec(SPAWN, path)
    if spec is None or spec.loader is None:
        return None
    execute = spec.loader.exec_module

    def execute_and_follow(module: ModuleType) -> None:
        execute(module)
        _follow(module)

    spec.loader.exec_module = execute_and_follow  # type: ignore[method-assign]
    return spec


def _follow(spawn: Any) -> None:
    """Have the children of this process install the alias before they load the main program."""
    prepare = spawn.get_preparation_data

    def prepare_with_alias(name: str) -> dict[str, Any]:
        data: dict[str, Any] = prepare(name)
        if name == "ignore":
            # For the fork server, which would load the main program before it knows the alias.
            data.pop("init_main_from_path", None)
        return {**data, ENGINE: _Installed()}

    spawn.get_preparation_data = prepare_with_alias


class _Installed:
    """Installs the alias in the process that unpickles it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return install, ()


# --- what to say ----------------------------------------------------------------------------------


def missing(module_name: str, name: str, names: Iterable[str] | None = None) -> str:
    """Return the message for ``module_name.name``, a name that gradtape does not have.

    ``names`` are the public names that may be proposed instead, dotted and without ``tf.``; by
    default all of gradtape's. Give the exception ``name=name``: with a name of its own, Python
    adds no second proposal.

    >>> missing("gradtape", "log", ["exp", "math.log"])
    "module 'gradtape' has no attribute 'log'; did you mean tf.math.log?"
    >>> missing("gradtape", "to_float", [])
    "module 'gradtape' has no attribute 'to_float'; use tf.cast(x, tf.float32)"
    """
    message = f"module {module_name!r} has no attribute {name!r}"
    if name.startswith("_"):
        return message
    inner = f"{module_name.partition('.')[2]}.{name}".removeprefix(".")
    return message + _counsel(inner, public_names() if names is None else names, "tf.")


def missing_module(inner: str) -> str:
    """Return the message for ``import tensorflow.<inner>`` when gradtape has no such module."""
    message = f"No module named {ALIAS + '.' + inner!r}: gradtape does not have it"
    modules = [name for name in public_names() if _engine_module(name) is not None]
    return message + _counsel(inner, modules, ALIAS + ".")


def public_names() -> list[str]:
    """Return the names that gradtape offers, dotted, those of its modules included."""
    engine = importlib.import_module(ENGINE)
    found = []
    for name in _offered(engine):
        found.append(name)
        value = getattr(engine, name)  # some are imported only now, to propose what is in them
        if isinstance(value, ModuleType) and value.__name__.startswith(ENGINE):
            inner = (
                one for one in _offered(value) if not isinstance(getattr(value, one), ModuleType)
            )
            found += [f"{name}.{one}" for one in inner]
    return found


def _offered(module: ModuleType) -> list[str]:
    held = [name for name in vars(module) if not name.startswith("_")]
    return list(vars(module).get("__all__", held))


def _counsel(inner: str, names: Iterable[str], prefix: str) -> str:
    first, last = inner.partition(".")[0], inner.rpartition(".")[2]
    advice = MOVED.get(inner) or PRIVATE.get(first) or MOVED.get(first) or MOVED.get(last)
    if advice:
        return "; " + advice
    near = [prefix + name for name in _near(inner, names)]
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _near(inner: str, names: Iterable[str]) -> list[str]:
    """Return the same name if it lives in another module, otherwise up to three that look alike."""
    import difflib

    last = inner.rpartition(".")[2].lower()
    # Of the names of one thing the shortest is the one to use: tf.exp rather than tf.math.exp.
    homes: dict[str, str] = {}
    for name in sorted(names, key=lambda name: name.count(".")):
        homes.setdefault(name.rpartition(".")[2].lower(), name)
    alike = [last] if last in homes else difflib.get_close_matches(last, homes, cutoff=0.75)
    return [homes[one] for one in alike]


PRIVATE = dict.fromkeys(
    ("python", "core", "compiler"),
    "it is private to TensorFlow, use the public name: look in tf, tf.math, tf.nn and tf.linalg",
)

_NO_GRAPH = "there is no graph in TensorFlow 2: code runs as it is called"
_NO_SESSION = "code runs as it is called, so drop the session and read a value with .numpy()"
_NO_INITIALISER = "a variable has its value from the start, so drop the call"
_BY_HAND = "keep the weights in a tf.Variable and write the step with tf.GradientTape"
_UPDATE = "write the update with variable.assign_sub(rate * gradient)"
_BATCHES = (
    "keep the data in tensors and take batches with slices, or tf.random.shuffle and tf.gather"
)
_SAVE = "save variable.numpy() with numpy.savez, and load with variable.assign(value)"
_ONE_PROCESS = "gradtape runs in one process on the CPU, so drop it"
_READ = "read files with Python or NumPy and pass on the arrays"

# Names of TensorFlow 1, of NumPy and of PyTorch, and of what TensorFlow has beside the tape; and
# what to write in their place. The name of a module speaks for all that is in it.
MOVED = {
    "keras": _BY_HAND,
    "placeholder": "pass the value to a Python function as an argument",
    "Session": _NO_SESSION,
    "InteractiveSession": _NO_SESSION,
    "ConfigProto": _NO_SESSION,
    "get_default_session": _NO_SESSION,
    "get_default_graph": _NO_GRAPH,
    "reset_default_graph": _NO_GRAPH,
    "get_collection": _NO_GRAPH,
    "enable_eager_execution": "TensorFlow 2 is always eager, so drop the call",
    "disable_eager_execution": _NO_GRAPH,
    "compat": "TensorFlow 1's graph mode is not here: write the step with tf.GradientTape",
    "compat.v1": "TensorFlow 1's graph mode is not here: write the step with tf.GradientTape",
    "global_variables_initializer": _NO_INITIALISER,
    "local_variables_initializer": _NO_INITIALISER,
    "initialize_all_variables": _NO_INITIALISER,
    "get_variable": "use tf.Variable(initial_value)",
    "variable_scope": "keep variables as attributes of a tf.Module",
    "trainable_variables": "ask a tf.Module for it, or a tape for tape.watched_variables()",
    "assign": "use variable.assign(value)",
    "assign_add": "use variable.assign_add(value)",
    "assign_sub": "use variable.assign_sub(value)",
    "to_float": "use tf.cast(x, tf.float32)",
    "to_double": "use tf.cast(x, tf.float64)",
    "to_int32": "use tf.cast(x, tf.int32)",
    "to_int64": "use tf.cast(x, tf.int64)",
    "div": "use tf.math.divide, or for whole numbers tf.math.floordiv",
    "random_normal": "use tf.random.normal",
    "random_uniform": "use tf.random.uniform",
    "random_shuffle": "use tf.random.shuffle",
    "set_random_seed": "use tf.random.set_seed",
    "multinomial": "use tf.random.categorical",
    "arg_max": "use tf.argmax",
    "arg_min": "use tf.argmin",
    "diag": "use tf.linalg.tensor_diag",
    "matrix_inverse": "use tf.linalg.inv",
    "matrix_determinant": "use tf.linalg.det",
    "matrix_solve": "use tf.linalg.solve",
    "matrix_diag": "use tf.linalg.diag",
    "Print": "use tf.print",
    "py_func": "use tf.py_function or tf.numpy_function",
    "app": "parse the arguments with argparse and call the function",
    "flags": "parse the arguments with argparse",
    "logging": "use Python's logging",
    "contrib": "it left TensorFlow in 2.0: look in tf.nn and tf.linalg",
    "layers": _BY_HAND,
    "estimator": _BY_HAND,
    "losses": "write the loss with tf.nn and tf.reduce_mean",
    "metrics": "keep the sum and the count in Python or in a tf.Variable",
    "optimizers": _UPDATE,
    "train": f"{_UPDATE}, {_SAVE}",
    "saved_model": _SAVE,
    "data": _BATCHES,
    "io": _READ,
    "image": "prepare images with NumPy or Pillow; tf.nn has convolutions and pooling",
    "audio": _READ,
    "summary": "log with tf.print",
    "distribute": _ONE_PROCESS,
    "tpu": _ONE_PROCESS,
    "autograph": "Python's if, for and while work on tensors as they stand, so drop the call",
    "raw_ops": "use the public function: look in tf, tf.math, tf.nn and tf.linalg",
    "lookup": "use a dict, and pass the numbers on",
    "feature_column": "make the columns with NumPy, tf.one_hot and tf.gather",
    "signal": "gradtape has no Fourier transforms",
    "sum": "use tf.reduce_sum",
    "mean": "use tf.reduce_mean",
    "max": "use tf.reduce_max, or of two tensors tf.maximum",
    "min": "use tf.reduce_min, or of two tensors tf.minimum",
    "prod": "use tf.reduce_prod",
    "var": "use tf.math.reduce_variance",
    "std": "use tf.math.reduce_std",
    "all": "use tf.reduce_all",
    "any": "use tf.reduce_any",
    "dot": "use tf.tensordot or tf.matmul",
    "array": "use tf.constant",
    "arange": "use tf.range",
    "concatenate": "use tf.concat",
    "cat": "use tf.concat",
    "mul": "use tf.multiply",
    "sub": "use tf.subtract",
    "neg": "use tf.negative",
    "no_grad": "use `with tape.stop_recording():`, or tf.stop_gradient for one value",
    "backward": "use tf.GradientTape and tape.gradient(loss, variables)",
    "grad": "use tf.GradientTape and tape.gradient(loss, variables)",
}
