"""The house rules that a machine can check: who imports whom, and what a declaration must have."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gradtape
from gradtape.core import place
from gradtape.ops.reasons import Reason

from .ops.samples import OPS

PACKAGE = Path(gradtape.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
# What each layer may import of the package, at module level; a lazy import inside a function is
# the way to reach up.
CORE = {"core"}
OPS_LAYER = CORE | {"ops", "errors"}


def imports(path: Path) -> set[str]:
    """The parts of the package that a module imports when it is imported."""
    tree = ast.parse(path.read_text())
    depth = len(path.relative_to(PACKAGE).parts) - 1
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            up = node.level - 1 - depth
            assert up <= 0, f"{path}: imports beyond the package"
            here = list(path.relative_to(PACKAGE).parts[: len(path.relative_to(PACKAGE).parts) - 1])
            base = here[: len(here) - (node.level - 1)]
            if base:
                found.add(base[0])
            elif node.module:
                found.add(node.module.split(".")[0])
            else:
                found.update(alias.name for alias in node.names)
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_lower_layers_do_not_import_upper_ones(path: Path) -> None:
    layer = path.relative_to(PACKAGE).parts[0]
    if layer == "core":
        assert imports(path) <= CORE
    elif layer == "ops":
        assert imports(path) <= OPS_LAYER


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_core_reads_in_one_sitting() -> None:
    lines = sum(len(p.read_text().splitlines()) for p in (PACKAGE / "core").glob("*.py"))
    assert lines < 600


def test_places_know_all_packages() -> None:
    packages = {p.parent.relative_to(PACKAGE.parent) for p in PACKAGE.rglob("__init__.py")}
    assert {".".join(p.parts) for p in packages} == place.PACKAGES


@pytest.mark.parametrize("name", OPS)
def test_every_op_is_declared_whole(name: str) -> None:
    op = OPS[name]
    assert callable(op.shape)
    assert op.push == "diagonal" or callable(op.sample), "an op needs operands to be tested with"
    for rule in op.rules:
        assert rule is None or callable(rule) or (isinstance(rule, Reason) and rule.why)


def test_importing_gradtape_is_light() -> None:
    heavy = {"scipy", "ml_dtypes", "opt_einsum", "rich", "jax", "keras", "tensorflow", "inspect"}
    code = "import sys, gradtape; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    base = subprocess.run(
        [sys.executable, "-c", "import sys, numpy; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not heavy & (set(out.stdout.split()) - set(base.stdout.split()))
