"""The examples in docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import gradtape

MODULES = [
    info.name
    for info in pkgutil.walk_packages(gradtape.__path__, "gradtape.")
    if not info.name.endswith("__main__")
]


@pytest.mark.parametrize("name", ["gradtape", *MODULES])
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    # Exceptions go by the full name of their class or by the short one.
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    assert doctest.testmod(module, optionflags=flags).failed == 0
