"""The exceptions of `tf.errors`: how they are made, copied and pickled, and what they hold."""

from __future__ import annotations

import copy
import pickle
from typing import Any

from tests.tensorflow.harness import attempt, cases

CLASSES = [
    "OpError", "CancelledError", "UnknownError", "InvalidArgumentError", "DeadlineExceededError",
    "NotFoundError", "AlreadyExistsError", "PermissionDeniedError", "UnauthenticatedError",
    "ResourceExhaustedError", "FailedPreconditionError", "AbortedError", "OutOfRangeError",
    "UnimplementedError", "InternalError", "UnavailableError", "DataLossError",
    "OperatorNotAllowedInGraphError",
]  # fmt: skip
FORMS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "nothing": ((), {}),
    "two": ((None, "what"), {}),
    "three": ((None, None, "what"), {}),
    "code": ((None, None, "what", 3), {}),
    "payloads": ((None, None, "what", 3, {"a": b"b"}), {}),
    "six": ((None, None, "what", 3, {}, 7), {}),
    "keyword": ((), {"message": "what"}),
    "keywords": ((), {"node_def": None, "op": None, "message": "what"}),
}


def held(error: Any) -> Any:
    """What an exception tells, and whether it survives a copy and a pickle."""
    names = ("message", "op", "node_def", "error_code", "experimental_payloads", "args")
    kept = {name: attempt(lambda name=name: getattr(error, name)) for name in names}
    again = [pickle.loads(pickle.dumps(error)), copy.copy(error)]
    return type(error).__name__, kept, [(type(one).__name__, str(one)) for one in again]


@cases(name=CLASSES, form=FORMS)
def made(tf: Any, name: str, form: Any) -> Any:
    positional, named = form
    return held(getattr(tf.errors, name)(*positional, **named))
