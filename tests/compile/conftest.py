"""Every pass is followed by the verifier here."""

import pytest

from gradtape.compile import passes


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    monkeypatch.setattr(passes, "CHECKED", True)
