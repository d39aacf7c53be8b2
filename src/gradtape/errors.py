"""TensorFlow's exceptions: one class per status code, `InvalidArgumentError` above all."""

from __future__ import annotations

from functools import wraps
from operator import attrgetter
from typing import Any

from .core.record import threads
from .framework.namespaces import lookup

__getattr__ = lookup(__name__)

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16

# What tracebacks print, so that logs and the tools that read them see TensorFlow's names.
_SHOWN_MODULE = "tensorflow.python.framework.errors_impl"


class OpError(Exception):
    """An op failed: what all of TensorFlow's errors share.

    `OpError` itself takes the status code after the message; its kinds know their own.
    """

    __module__ = _SHOWN_MODULE
    _code: int | None = None

    def __init__(self, node_def: Any, op: Any, message: Any, error_code: int, *args: Any) -> None:
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._experimental_payloads = args[0] if args else {}

    message = property(attrgetter("_message"), doc="What went wrong.")
    op = property(attrgetter("_op"), doc="The op that failed, if it is known; None for eager ops.")
    node_def = property(attrgetter("_node_def"), doc="The failing node; None for eager ops.")
    error_code = property(
        attrgetter("_error_code"), doc="The number of the status, such as `INVALID_ARGUMENT`."
    )
    experimental_payloads = property(
        attrgetter("_experimental_payloads"), doc="What else the failing op reported."
    )

    def __str__(self) -> str:
        return str(self._message)

    def __reduce__(self) -> tuple[Any, ...]:
        arguments: tuple[Any, ...] = (self._node_def, self._op, self._message)
        if self._code is None:
            arguments += (self._error_code,)
        return _recipe(type(self), arguments)


def _of_node(self: Any, node_def: Any, op: Any, message: Any, *args: Any) -> None:
    """How TensorFlow makes an error whose class says its status code."""
    OpError.__init__(self, node_def, op, message, self._code, *args)


@wraps(_of_node)
def _coded(self: Any, *args: Any, **kwargs: Any) -> None:
    """The same, or of a message alone, which TensorFlow's errors do not take. Programs raise errors
    again with more words, as Keras does (`raise e.__class__(f"… {e}")`), and what was wrong must
    not be lost."""
    if len(args) == 1 and not kwargs and isinstance(args[0], str):
        args = (None, None, args[0])
    _of_node(self, *args, **kwargs)


def _recipe(kind: type, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    if kind.__module__ == _SHOWN_MODULE:  # pickle would not find the class there
        return _rebuild, (kind.__name__, *arguments)
    return kind, arguments


def _rebuild(name: str, *arguments: Any) -> Any:
    return globals()[name](*arguments)


class CancelledError(OpError):
    """The operation was cancelled."""

    __module__ = _SHOWN_MODULE
    _code = CANCELLED
    __init__ = _coded


class UnknownError(OpError):
    """Something failed that has no kind of its own."""

    __module__ = _SHOWN_MODULE
    _code = UNKNOWN
    __init__ = _coded


class InvalidArgumentError(OpError):
    """An argument is wrong whatever the state of the program, such as shapes that do not fit."""

    __module__ = _SHOWN_MODULE
    _code = INVALID_ARGUMENT
    __init__ = _coded


class DeadlineExceededError(OpError):
    """The time allowed ran out."""

    __module__ = _SHOWN_MODULE
    _code = DEADLINE_EXCEEDED
    __init__ = _coded


class NotFoundError(OpError):
    """A file or another named thing does not exist."""

    __module__ = _SHOWN_MODULE
    _code = NOT_FOUND
    __init__ = _coded


class AlreadyExistsError(OpError):
    """What should be made is there already."""

    __module__ = _SHOWN_MODULE
    _code = ALREADY_EXISTS
    __init__ = _coded


class PermissionDeniedError(OpError):
    """The caller may not do this."""

    __module__ = _SHOWN_MODULE
    _code = PERMISSION_DENIED
    __init__ = _coded


class UnauthenticatedError(OpError):
    """It is not known who the caller is."""

    __module__ = _SHOWN_MODULE
    _code = UNAUTHENTICATED
    __init__ = _coded


class ResourceExhaustedError(OpError):
    """Memory or another resource ran out."""

    __module__ = _SHOWN_MODULE
    _code = RESOURCE_EXHAUSTED
    __init__ = _coded


class FailedPreconditionError(OpError):
    """The program is not in the state that the operation needs."""

    __module__ = _SHOWN_MODULE
    _code = FAILED_PRECONDITION
    __init__ = _coded


class AbortedError(OpError):
    """The operation was given up, usually because another one interfered."""

    __module__ = _SHOWN_MODULE
    _code = ABORTED
    __init__ = _coded


class OutOfRangeError(OpError):
    """The operation went past the end, such as reading after the last element."""

    __module__ = _SHOWN_MODULE
    _code = OUT_OF_RANGE
    __init__ = _coded


class UnimplementedError(OpError):
    """The operation does not support this case."""

    __module__ = _SHOWN_MODULE
    _code = UNIMPLEMENTED
    __init__ = _coded


class InternalError(OpError):
    """Something that should always hold does not."""

    __module__ = _SHOWN_MODULE
    _code = INTERNAL
    __init__ = _coded


class UnavailableError(OpError):
    """The service cannot be reached now."""

    __module__ = _SHOWN_MODULE
    _code = UNAVAILABLE
    __init__ = _coded


class DataLossError(OpError):
    """Data are lost or damaged beyond repair."""

    __module__ = _SHOWN_MODULE
    _code = DATA_LOSS
    __init__ = _coded


class OperatorNotAllowedInGraphError(TypeError):
    """Python asked a symbolic tensor for a value that it does not have."""

    __module__ = _SHOWN_MODULE

    def __reduce__(self) -> tuple[Any, ...]:
        return _recipe(type(self), self.args)


def invalid(message: str) -> Exception:
    """The error that ops raise for arguments that do not fit.

    In a function TensorFlow knows the shapes before it computes, and raises a ValueError then; of
    shapes that it does not know, and of numbers, the error is that of eager ops.
    """
    recording = threads.recording
    if recording is not None and recording.knows_shapes:
        return ValueError(message)
    return InvalidArgumentError(None, None, message)


def at_run(message: str) -> InvalidArgumentError:
    """The error for numbers that do not fit, such as an index out of range, and for the shapes that
    TensorFlow leaves to the op that computes: the same in a function as in eager code."""
    return InvalidArgumentError(None, None, message)


def wrong_dtype(message: str) -> Exception:
    """The error for an operand of a dtype that the op does not take, or not beside the others: a
    TypeError in a function, where dtypes are always known before anything is computed."""
    kind = of_dtypes()
    return kind(message) if kind is TypeError else InvalidArgumentError(None, None, message)


def of_dtypes() -> type[Exception]:
    """The class of what `wrong_dtype` gives here."""
    return InvalidArgumentError if threads.recording is None else TypeError


def exhausted(label: str, error: MemoryError) -> ResourceExhaustedError:
    """The error for a result that the machine has no memory for."""
    return ResourceExhaustedError(
        None, None, f"OOM when allocating tensor: {error} [Op:{label}] name: "
    )


def no_kernel(label: str, dtype: str) -> NotFoundError:
    """The error for a dtype that TensorFlow names for an op but computes on no device."""
    return NotFoundError(
        None,
        None,
        f"Could not find device for node: {label} has no kernel for {dtype}; cast the argument "
        f"first, for example tf.cast(x, tf.float32) [Op:{label}] name: ",
    )
