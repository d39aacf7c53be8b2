"""Starts gradtape's command line, and Python itself, in processes of their own."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

_found = importlib.util.find_spec("gradtape.version")
assert _found is not None
assert _found.origin is not None
SOURCE = Path(_found.origin).parents[1]
LIMIT = 900  # seconds: what hangs must end, and what is slow on a busy machine must not fail


def gradtape(*words, **options):
    """Run ``gradtape words...`` and return the finished process."""
    return python("-m", "gradtape", *words, **options)


def python(*words, **options):
    """Run ``python words...`` and return the finished process."""
    command = [sys.executable, *map(str, words)]
    options = {"input": "", "timeout": LIMIT, "encoding": "utf-8", **options}
    return subprocess.run(command, capture_output=True, check=False, env=environment(), **options)


def environment():
    """Return this process's environment, with gradtape found from any directory."""
    paths = [str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])]
    plain = {"PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    return {**os.environ, **plain, "PYTHONPATH": os.pathsep.join(paths)}
