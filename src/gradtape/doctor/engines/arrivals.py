"""Does something as soon as a module has been imported, now or later, by whoever imports it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Arrival:
    """Waits for a module at the head of the import system's finders."""

    def __init__(self, name: str, work: Callable[[], Any]) -> None:
        self.name, self.work = name, work

    def await_it(self) -> None:
        module = sys.modules.get(self.name)
        if module is not None and not getattr(module.__spec__, "_initializing", False):
            self.work()
        else:
            sys.meta_path.insert(0, self)

    def forget(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        for finder in [f for f in sys.meta_path if f is not self]:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                return self._followed(spec)
        return None

    def _followed(self, spec: ModuleSpec) -> ModuleSpec:
        """The module's own spec, with the work done once the module is there.

        To be asked for the spec is not enough: TensorFlow asks whether Keras could be imported.
        """
        if hasattr(spec.loader, "exec_module"):
            spec.loader = _Following(spec.loader, self)
        return spec


class _Following(Loader):
    """A module's own loader, which may be that of others too, with the work done after it."""

    def __init__(self, loader: Any, arrival: Arrival) -> None:
        self._loader, self._arrival = loader, arrival

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._arrival.forget()
        assert module.__spec__ is not None
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._arrival.work()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
