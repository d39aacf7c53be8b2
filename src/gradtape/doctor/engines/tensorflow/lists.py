"""The lists of a graph's loops: what their elements are, while a call is computed again.

A loop of a graph reads and writes its sequences through lists, which are tensors without numbers.
By their elements they are an Unpack at the beginning and a Pack at the end, and the values in
between have a history.
"""

from __future__ import annotations

from typing import Any

from . import ops

KINDS = frozenset({
    "TensorListFromTensor", "TensorListReserve", "EmptyTensorList", "TensorListSetItem",
    "TensorListPushBack", "TensorListGetItem", "TensorListStack", "Identity",
})  # fmt: skip


class Lists:
    """The elements of lists, by the ids of the tensors that stand for them."""

    def __init__(self) -> None:
        self.elements: dict[int, list[Any]] = {}
        self.held: list[Any] = []

    def concerns(self, kind: str, inputs: list[Any]) -> bool:
        return kind in KINDS and (kind != "Identity" or id(inputs[0]) in self.elements)

    def keep(self, handle: Any, elements: list[Any]) -> None:
        self.elements[id(handle)] = elements
        self.held.append(handle)

    def after(
        self, kind: str, inputs: list[Any], results: list[Any]
    ) -> tuple[list[Any], tuple | None]:
        """The results of an op on a list, and the event that stands for it: type, operands,
        attributes, results."""
        known = self.elements.get(id(inputs[0]))
        if kind == "TensorListFromTensor":
            parts = self._unpacked(inputs[0])
            self.keep(results[0], parts)
            attrs = ("num", len(parts), "T", inputs[0].dtype.as_datatype_enum, "axis", 0)
            return results, ("Unpack", [inputs[0]], attrs, parts)
        if kind == "TensorListReserve":
            self.keep(results[0], [None] * int(ops.values.array(inputs[1])))
        elif kind == "EmptyTensorList":
            self.keep(results[0], [])
        elif known is None:
            return results, None
        elif kind == "Identity":
            self.keep(results[0], known)
        elif kind == "TensorListSetItem":
            self.keep(results[0], _with(known, int(ops.values.array(inputs[1])), inputs[2]))
        elif kind == "TensorListPushBack":
            self.keep(results[0], [*known, inputs[1]])
        elif kind == "TensorListGetItem":
            found = known[int(ops.values.array(inputs[1]))]
            return [found] if found is not None else results, None
        elif kind == "TensorListStack" and known and all(e is not None for e in known):
            attrs = ("N", len(known), "T", results[0].dtype.as_datatype_enum, "axis", 0)
            return results, ("Pack", known, attrs, results)
        return results, None

    @staticmethod
    def _unpacked(tensor: Any) -> list[Any]:
        number = tensor.shape[0]
        attrs = ("num", number, "T", tensor.dtype.as_datatype_enum, "axis", 0)
        return ops.run("Unpack", [tensor], attrs, number)


def _with(elements: list[Any], k: int, item: Any) -> list[Any]:
    longer = elements + [None] * (k + 1 - len(elements))
    return [*longer[:k], item, *longer[k + 1 :]]
