"""The same program has the same report on TensorFlow, too.

All programs, in more runs: `python -m tests.doctor.steady --engine tensorflow`.
"""

from __future__ import annotations

from .. import steady
from .running import needs_tensorflow

pytestmark = needs_tensorflow


def test_a_report_does_not_depend_on_addresses_and_hash_seeds() -> None:
    assert steady.differing("tensorflow", runs=3, share=8) == {}
