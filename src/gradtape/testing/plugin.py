"""The pytest plugin: with `--gradtape-doctor`, a test whose tape lost a gradient fails.

The failure message is the doctor's report. A test that means to lose one is marked
`@pytest.mark.no_gradtape_doctor`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

OPTION, MARK = "--gradtape-doctor", "no_gradtape_doctor"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gradtape")
    group.addoption(
        OPTION,
        action="store_true",
        help="fail tests that lose a gradient (None, zeros, NaN, ...), and say why",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARK}: {OPTION} does not look at this test")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    if not item.config.getoption(OPTION) or item.get_closest_marker(MARK):
        return (yield)
    from .. import doctor
    from ..doctor.engines.choice import in_sight

    module = getattr(item, "module", None)
    watch = doctor.watch(engine=in_sight(vars(module)) if module is not None else "gradtape")
    report = watch.__enter__()
    try:
        result = yield
    except BaseException as error:
        watch.__exit__(type(error), error, error.__traceback__)
        if report.findings and "gradtape doctor: " not in str(error):  # why it failed, perhaps
            item.add_report_section("call", "gradtape doctor", report.to_text())
        raise
    watch.__exit__(None, None, None)
    # An error inside was meant (pytest.raises), and what is only likely is no reason to fail.
    if any(finding.sure and finding.state != "error" for finding in report.findings):
        pytest.fail(report.to_text(), pytrace=False)
    return result
