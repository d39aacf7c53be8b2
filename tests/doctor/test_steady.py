"""The same program has the same report, whatever the hash seed and wherever objects lie.

A sample of what `python -m tests.doctor.steady` does with more runs and all programs.
"""

from __future__ import annotations

import pytest

from . import steady


@pytest.mark.sampled
def test_a_report_does_not_depend_on_addresses_and_hash_seeds(pytestconfig: pytest.Config) -> None:
    assert len(steady.programs("gradtape", share=4)) >= 30
    runs = 3 if pytestconfig.getoption("--all") else 2
    assert steady.differing("gradtape", runs, share=4) == {}


def test_a_rebound_name_is_told_from_its_neighbours() -> None:
    texts = steady.programs("gradtape")
    found = {
        title: [_lines(f) for f in steady.diagnose(text).findings.values()]
        for title, text in texts.items()
        if "rebound" in title and title != "variable-rebound"
    }
    assert found == {
        "two names that are rebound in a loop": [("a", ["tf.Variable(2.0)"]),
                                                 ("b", ["tf.Variable(3.0)"])],
        "two names that are rebound, made at lines of their own": [
            ("a", ["tf.Variable(2.0)"]), ("b", ["tf.Variable(3.0)"]), ("c", ["tf.Variable(1.0)"])],
        "names that are rebound by a function that takes them": [
            ("u", ["tf.Variable([1.0, 2.0])"]), ("v", ["tf.Variable([3.0, 4.0])"])],
    }  # fmt: skip


def _lines(finding: steady.Any) -> tuple[str, list[str]]:
    made = [place.text for place, label in finding.also if "made here" in label]
    return finding.source, made
