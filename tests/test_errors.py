"""Exceptions carry what TensorFlow 2.21's carry, print as they do, and survive pickling."""

import copy
import pickle
import traceback

import pytest

from gradtape import errors

KINDS = {
    "CancelledError": 1,
    "UnknownError": 2,
    "InvalidArgumentError": 3,
    "DeadlineExceededError": 4,
    "NotFoundError": 5,
    "AlreadyExistsError": 6,
    "PermissionDeniedError": 7,
    "ResourceExhaustedError": 8,
    "FailedPreconditionError": 9,
    "AbortedError": 10,
    "OutOfRangeError": 11,
    "UnimplementedError": 12,
    "InternalError": 13,
    "UnavailableError": 14,
    "DataLossError": 15,
    "UnauthenticatedError": 16,
}


@pytest.mark.parametrize(("name", "code"), KINDS.items())
def test_kinds(name, code):
    kind = getattr(errors, name)
    error = kind(None, None, "message")
    assert error.error_code == code
    assert (error.message, error.op, error.node_def) == ("message", None, None)
    assert str(error) == "message"
    assert repr(error) == f"{name}()"
    assert error.args == ()
    assert error.experimental_payloads == {}
    assert kind.__mro__[1] is errors.OpError
    shown = "".join(traceback.format_exception_only(error))
    assert shown == f"tensorflow.python.framework.errors_impl.{name}: message\n"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("OK", 0),
        ("CANCELLED", 1),
        ("UNKNOWN", 2),
        ("INVALID_ARGUMENT", 3),
        ("DEADLINE_EXCEEDED", 4),
        ("NOT_FOUND", 5),
        ("ALREADY_EXISTS", 6),
        ("PERMISSION_DENIED", 7),
        ("RESOURCE_EXHAUSTED", 8),
        ("FAILED_PRECONDITION", 9),
        ("ABORTED", 10),
        ("OUT_OF_RANGE", 11),
        ("UNIMPLEMENTED", 12),
        ("INTERNAL", 13),
        ("UNAVAILABLE", 14),
        ("DATA_LOSS", 15),
        ("UNAUTHENTICATED", 16),
    ],
)
def test_codes(name, code):
    assert getattr(errors, name) == code


def test_arguments():
    error = errors.InvalidArgumentError(node_def="node", op="op", message="m")
    assert (error.node_def, error.op, error.message) == ("node", "op", "m")
    assert errors.InvalidArgumentError(None, None, "m", {"a": 1}).experimental_payloads == {"a": 1}
    with pytest.raises(TypeError, match="message"):
        errors.InvalidArgumentError(None, None)


def test_the_base_takes_a_code():
    assert errors.OpError(None, None, "m", 3).error_code == 3
    assert errors.OpError(None, None, "m", error_code=3).error_code == 3
    with pytest.raises(TypeError, match="error_code"):
        errors.OpError(None, None, "m")


@pytest.mark.parametrize("name", [*KINDS, "OpError"])
def test_copies(name):
    code = () if name in KINDS else (5,)
    error = getattr(errors, name)("node", "op", "message", *code)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert (twin.message, twin.op, twin.node_def) == ("message", "op", "node")
        assert twin.error_code == error.error_code


class OwnError(errors.NotFoundError):
    pass


def test_a_class_of_ones_own():
    error = pickle.loads(pickle.dumps(OwnError(None, None, "m")))
    assert type(error) is OwnError
    assert error.error_code == errors.NOT_FOUND


def test_graph_error_is_a_type_error():
    error = errors.OperatorNotAllowedInGraphError("m")
    assert isinstance(error, TypeError)
    assert not isinstance(error, errors.OpError)
    assert str(pickle.loads(pickle.dumps(error))) == "m"


def test_short_cut():
    error = errors.invalid("m")
    assert type(error) is errors.InvalidArgumentError
    assert str(error) == "m"


@pytest.mark.parametrize(("name", "code"), KINDS.items())
def test_a_message_alone_makes_an_error_again(name, code):
    """Keras raises what a layer raised again, as `e.__class__(message)`."""
    error = getattr(errors, name)(None, None, "wrong shape")
    again = error.__class__(f"Exception encountered when calling Dense.call(): {error}")
    assert str(again) == "Exception encountered when calling Dense.call(): wrong shape"
    assert (again.error_code, again.op, again.node_def) == (code, None, None)
    assert str(pickle.loads(pickle.dumps(again))) == str(again)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'message'"):
        getattr(errors, name)(None, "two")
