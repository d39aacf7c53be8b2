"""Crews of any number of threads, for tests: what is compiled meanwhile is done by them."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager

from gradtape.compile.native import crew, unit

MOST = 4  # threads that all code has room for, so that crews of fewer share it
_crews: dict[tuple[int, bool], crew.Crew] = {}


@contextmanager
def crew_of(count: int, forced: bool = True, most: int = MOST) -> Iterator[None]:
    """What is compiled meanwhile is done by a crew of so many threads: always by all of them, or by
    one where that is quicker. Its code has room for `most` threads."""
    if (count, forced) not in _crews:
        _crews[count, forced] = crew.Crew(count)
        _crews[count, forced].force(forced)
    before, wanted = crew._crews[:], os.environ.get("GRADTAPE_THREADS")
    crew._crews[:] = [_crews[count, forced]]
    os.environ["GRADTAPE_THREADS"] = str(max(count, most))
    crew.wanted.cache_clear()
    try:
        yield
    finally:
        crew._crews[:] = before
        if wanted is None:
            del os.environ["GRADTAPE_THREADS"]
        else:
            os.environ["GRADTAPE_THREADS"] = wanted
        crew.wanted.cache_clear()


@contextmanager
def all_shared() -> Iterator[None]:
    """What is compiled meanwhile shares all that can be shared, however small it is."""
    before = unit.ENOUGH, unit.WORTH
    unit.ENOUGH = unit.WORTH = 0
    try:
        yield
    finally:
        unit.ENOUGH, unit.WORTH = before


@atexit.register
def _dismiss() -> None:
    for threads in _crews.values():
        threads.dismiss()
