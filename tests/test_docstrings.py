"""The examples in docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path
from typing import Any

import pytest

import gradtape

SOURCE = Path(gradtape.__file__).parent
MODULES = [
    ".".join(("gradtape", *file.relative_to(SOURCE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    for file in sorted(SOURCE.rglob("*.py"))
    if ">>> " in file.read_text(encoding="utf-8")
]


class Finder(doctest.DocTestFinder):
    """Finds the examples of classes that say they are of TensorFlow's modules, too."""

    def _from_module(self, module: Any, thing: Any) -> bool:
        if isinstance(thing, type) and thing.__module__.startswith("tensorflow."):
            return any(
                getattr(v, "__module__", "") == module.__name__ for v in vars(thing).values()
            )
        return super()._from_module(module, thing)  # type: ignore[misc]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    # Exceptions go by the full name of their class or by the short one.
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    runner = doctest.DocTestRunner(optionflags=flags)
    for test in Finder().find(module, name):
        runner.run(test)
    assert runner.tries > 0
    assert runner.failures == 0
