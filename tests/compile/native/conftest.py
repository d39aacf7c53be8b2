"""Programs are compiled at once here, and what cannot be compiled is an error."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    from gradtape.compile.backends import choice, llvm

    monkeypatch.setattr(choice, "NAME", "llvm")
    monkeypatch.setattr(llvm, "STRICT", True)
