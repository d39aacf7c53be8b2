"""What gradtape's adapter hears of `tf.data`: tensors that are stored, and others that come out."""

from __future__ import annotations

from threading import get_ident
from typing import Any

from .... import nest
from ....core.place import caller
from ....core.record import Value as Engine_value
from ....framework.lifetimes import Beside
from ...trace import Event, Value
from ..arrivals import Arrival

STORED, PASSED = 16, 17  # the first fields of raw events


def hear_datasets(engine: Any) -> Any:
    """Listen to datasets as soon as there are any; gives what ends the waiting for them."""
    arrival = Arrival("gradtape.data.iterators", lambda: _hook(engine))
    arrival.await_it()
    return arrival.forget


def _hook(engine: Any) -> None:
    from ....data import sources
    from ....data.iterators import Iterator
    from ....data.node import Node, walk

    stores: Beside[Node, None] = Beside()

    def storing(make: Any, label: str) -> Any:
        def __init__(self: Any, tensors: Any) -> None:
            make(self, tensors)
            given = [t for t in nest.flatten(tensors) if isinstance(t, Engine_value)]
            if given and _listens(engine):
                user = caller()
                stores.put(self, None)
                given = list(map(engine.stand_ins.keep, given))
                engine.log.append(
                    (STORED, self, label, given, user.f_code, user.f_lasti, get_ident())
                )

        return __init__

    packed = Iterator._packed

    def _packed(self: Any, element: Any) -> Any:
        made = packed(self, element)
        if stores and _listens(engine):
            behind = [node for node in walk(self._pass.node) if node in stores]
            given = [t for t in nest.flatten(made) if isinstance(t, Engine_value)]
            if behind and given:
                user = caller()
                for one in given:
                    engine._weigh(one._value)
                given = list(map(engine.stand_ins.keep, given))
                engine.log.append((PASSED, behind, given, user.f_code, user.f_lasti, get_ident()))
        return made

    for kind in (sources.Slices, sources.Tensors):
        label = "TensorSliceDataset" if kind is sources.Slices else "TensorDataset"
        engine._set(kind, "__init__", storing(kind.__init__, label))
    engine._set(Iterator, "_packed", _packed)


def _listens(engine: Any) -> bool:
    """Is it the program's own doing, and not in a function that is recorded?"""
    return not engine.aside or engine.functions.here() is engine.log


class Datasets:
    """The part of a reader that knows of datasets."""

    def __init__(self) -> None:
        self.stores: dict[int, Value] = {}  # by the id of the node

    def _store_of(self, node: Any) -> Value:
        known = self.stores.get(id(node))
        if known is None:
            known = self.stores[id(node)] = self._new("tensor", None, node)  # type: ignore[attr-defined]
        return known

    def _into_dataset(self, time: float, node: Any, label: str, given: Any, *where: Any) -> None:
        """Tensors become a part of a dataset."""
        code, offset, thread = where
        inputs = [self._value(t, time) for t in given]  # type: ignore[attr-defined]
        place = self._at(code, offset)  # type: ignore[attr-defined]
        event = Event(label, label, inputs, [self._store_of(node)], place, time, way="dataset")
        self._add(event, thread)  # type: ignore[attr-defined]

    def _out_of_dataset(self, time: float, nodes: Any, given: Any, *where: Any) -> None:
        """An element is handed out."""
        code, offset, thread = where
        outputs = [self._new("tensor", t._value, t) for t in given]  # type: ignore[attr-defined]
        place = self._at(code, offset)  # type: ignore[attr-defined]
        event = Event(
            "IteratorGetNext", "iterator_get_next", list(map(self._store_of, nodes)), outputs,
            place, time, way="dataset",
        )  # fmt: skip
        self._add(event, thread)  # type: ignore[attr-defined]
