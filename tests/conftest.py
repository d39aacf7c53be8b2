"""A test says the same on every run: what Hypothesis and the programs draw is fixed.

`--hypothesis-profile=default` draws anew, to look for what the fixed examples do not show.

What a test is about is told here, by the place where it stands: `doctor` and `oracle` (recorded
answers of TensorFlow) by the folder, `process` by the tables below, and `engine` is all the rest.
"""

from __future__ import annotations

import gc
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy.testing  # noqa: F401 (NumPy 2.0 starts a process when it is imported)
import pytest
from hypothesis import HealthCheck, settings

# How long an example takes is a matter of the machine and its load.
patient = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("gradtape", derandomize=True, **patient)
settings.load_profile("gradtape")


def pytest_addoption(parser: pytest.Parser) -> None:
    """What CI asks for beyond the usual run, and what one asks for who looks into a failure."""
    parser.addoption("--all", action="store_true", help="no samples: tests marked so do it all")
    help = "of the recorded answers of TensorFlow, only those with this text in their id"
    parser.addoption("--case", metavar="TEXT", help=help)


# --- markers --------------------------------------------------------------------------------------
HERE = Path(__file__).parent
FOLDERS = {"doctor": "doctor", "tensorflow": "oracle"}
# Files of which most tests start processes, and single tests of other files, beside those with a
# browser.
STARTING = {
    "checkpoints/test_kill",
    "doctor/test_budget",
    "doctor/test_conduct",
    "doctor/test_doors",
    "doctor/test_fixing",
    "doctor/test_keras_programs",
    "doctor/test_live",
    "doctor/test_settings",
    "doctor/test_sources",
    "doctor/test_steady",
    "doctor/test_unchanged",
    "doctor/tensorflow/test_conduct",
    "doctor/tensorflow/test_cost",
    "doctor/tensorflow/test_keras",
    "doctor/tensorflow/test_live",
    "doctor/tensorflow/test_same",
    "doctor/tensorflow/test_steady",
    "documents/test_commands",
    "documents/test_pages",
    "compile/native/test_life",
    "compile/native/test_programs",
    "keras/test_front",
    "keras/test_programs",
    "keras/test_sample",
    "test_completion",
    "test_examples",
    "test_forks",
    "test_interrupts",
    "test_reference_scripts",
    "test_run",
}
STARTING_ALONE = {
    "checkpoints/test_tensorflow_files::test_written_now",
    "compile/test_function::test_a_setting_for_debugging",
    "doctor/test_boards::test_a_file_is_no_folder",
    "doctor/test_boards::test_the_command_writes_event_files",
    "doctor/test_notebooks::test_a_kernel",
    "data/test_pipelines::test_importing_gradtape_does_not_import_datasets",
    "doctor/test_lessons::test_the_catalogue_names_every_rule",
    "ops/test_parallel::test_a_forked_process_has_threads_of_its_own",
    "ops/test_parallel::test_a_variable_is_still_changed_in_place",
    "tensorflow/test_programs::test_a_python_without_tensorflow_is_told_how_to_come_by_it",
    "test_dtypes::test_bfloat16_is_imported_only_when_it_is_used",
    "test_layers::test_importing_gradtape_is_light",
    "test_numpy::test_it_is_imported_when_asked_for",
    "test_variable::test_a_training_step_updates_in_place",
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`-m engine` does not read the folders that have no test of it: that is half of its time."""
    beside = collection_path.parent == HERE and collection_path.name in FOLDERS
    return True if beside and config.option.markexpr == "engine" else None


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    for item in items:
        file = item.path.relative_to(HERE).with_suffix("")
        marks = [FOLDERS[file.parts[0]]] if file.parts[0] in FOLDERS else []
        name = getattr(item, "originalname", item.name)
        alone = f"{file.as_posix()}::{name}" in STARTING_ALONE or "browser" in item.fixturenames
        if alone or file.as_posix() in STARTING:
            marks.append("process")
        for mark in marks or ["engine"]:
            item.add_marker(mark)


_running: list[pytest.Item] = []


def pytest_configure(config: pytest.Config) -> None:
    """A test of the engine that starts a process is told that it is none."""

    def watched(start: Callable[..., Any]) -> Callable[..., Any]:
        def starting(*args: Any, **options: Any) -> Any:
            for item in _running:
                told = "it starts a process: name it in tests/conftest.py"
                assert not item.get_closest_marker("engine"), told
            return start(*args, **options)

        return starting

    subprocess.Popen.__init__ = watched(subprocess.Popen.__init__)  # type: ignore[method-assign]
    if hasattr(os, "fork"):
        os.fork = watched(os.fork)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    _running[:] = [item]
    try:
        return (yield)
    finally:
        _running.clear()


def pytest_collection_finish() -> None:
    """The tests themselves are no garbage: collections, of which many tests ask, pass them by."""
    gc.collect()
    gc.freeze()
