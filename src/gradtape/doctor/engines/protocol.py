"""What an engine is to the doctor: the listener of one framework. `docs/design.md` says what a new
one has to provide."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

from ..source.place import Place
from ..trace import Asked, Trace
from .optimizers import Steps
from .sights import Sights


class Engine(Protocol):
    """Listens to the ops, variables and tapes of one framework, in any thread of this process.

    While the program runs, an engine only appends to its log, and calls `asked` when a tape has
    been asked for gradients. `trace` makes the neutral record of the log, which all judging is
    done on.
    """

    name: str
    log: list[Any]  # raw events: what they hold is the engine's own business
    deaf: bool  # hears nothing while it is set: what the doctor computes is not the program's
    dropped: int  # events that the log has let go
    tell_by: float  # the time by which whoever follows the run wants to hear of what is put off
    sights: Sights  # Python values that traced functions have read
    steps: Steps | None  # of a library's optimizers
    notes: list[str]  # what the report should say of the listening itself
    faults: list[str]  # exceptions of the hooks, which never reach the program

    def start(self) -> None:
        """Put the hooks in, or wait for the framework to be imported."""

    def stop(self) -> None:
        """Take all hooks out: everything is as it was before."""

    def forget(self) -> None:
        """Let go of the program's objects."""

    def catch_up(self) -> None:
        """Call `asked` for what was put off."""

    def unfinished(self) -> None:
        """The program ended with an exception: call `asked` for queries that it broke off."""

    def trim(self, most: int = ..., alone: bool = False) -> None:
        """Let go of what no later query needs, if there is more than that; with `alone`, of all
        that was before the query that is looked at."""

    def trace(self) -> Trace:
        """The log of this moment as a neutral trace: events with their places, derivatives (`pull`)
        and a way to compute them again (`replay`)."""

    def raised_at(self, error: BaseException) -> Place | None:
        """The user's innermost place in the traceback of an exception."""

    def joins(self, model: Any, frame: FrameType | None) -> Callable[[], None]:
        """Listen to a `fit` that runs already; what is returned ends that."""


if TYPE_CHECKING:  # mypy compares them with the protocol here
    from .gradtape import Engine as _Gradtape
    from .tensorflow import Engine as _TensorFlow

    _ENGINES: tuple[type[Engine], ...] = (_Gradtape, _TensorFlow)

MODULES = {"gradtape": ".gradtape", "tensorflow": ".tensorflow"}


def new_engine(name: str, asked: Callable[[Asked], None]) -> Engine:
    """An engine by its name."""
    engine: Engine = import_module(MODULES[name], __package__).Engine(asked)
    return engine
