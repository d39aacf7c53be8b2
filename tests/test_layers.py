"""The house rules that a machine can check: who imports whom, and what a declaration must have."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import gradtape
from gradtape.core import place
from gradtape.ops.reasons import Reason

from .ops.samples import OPS

PACKAGE = Path(gradtape.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
# Read top to bottom: the way a value travels. A room imports only its own line and those above.
LAYERS = """
traits
core
errors dtypes version
ops
framework nest
autodiff
arrays math linalg nn strings control io train summary lookup quantization test autograph random \\
signal audio image sparse ragged numpy config bitwise sets debugging
compile
data
raw_ops api types experimental internal compat distribute sysconfig keras
doctor
testing cli __init__ __main__
"""
DOCTOR = """
source
trace
facts
rules
fixing
report
live
engines
entry __init__
"""
# Who reaches up, inside of a function, and why.
EXCEPTIONS = {
    ("framework/tensor.py", "api.absent"),  # those for a method
    ("framework/indexing.py", "arrays.gathering"),  # tensor[mask]
    ("framework/variable.py", "arrays.gathering"),  # variable.gather_nd, sparse_read
    ("doctor/trace/finding.py", "doctor.facts.spots"),  # for type checkers
    ("doctor/engines/gradtape/explaining.py", "doctor.entry.session"),  # tape.explain once more
    ("doctor/engines/gradtape/explaining.py", "doctor.entry.examining"),
}
# Found by every public module, and itself above nothing.
FREE = {"framework.namespaces"}


def ranks(layers: str) -> dict[str, int]:
    """The rooms by their place."""
    lines = layers.replace("\\\n", " ").splitlines()
    return {room: place for place, line in enumerate(lines) for room in line.split()}


# `from ..core.op import Op, registry`, also inside of functions; trees of all modules take seconds.
IMPORT = re.compile(r"^ *from (\.+)([\w.]*) import (\([^)]*\)|[^\n]*)", re.M)


@cache
def imports(path: Path) -> set[str]:
    """The modules of the package that a module imports, at once or when a function is called."""
    here = path.relative_to(PACKAGE).parts[:-1]
    found: set[str] = set()
    for dots, module, names in IMPORT.findall(path.read_text()):
        level = len(dots)
        assert level <= len(here) + 1, f"{path}: imports beyond the package"
        base = [*here[: len(here) - level + 1], *filter(None, module.split("."))]
        names = re.sub(r"#.*| as \w+", "", names).strip("() ")
        for name in filter(None, (name.strip() for name in names.split(","))):
            inner = PACKAGE.joinpath(*base, name)
            is_module = inner.with_suffix(".py").exists() or inner.is_dir()
            found.add(".".join([*base, name] if is_module else base))
    return found - {""}


def absolute(path: Path) -> set[str]:
    """The modules that a module imports by `import gradtape` or `from gradtape.core import op`."""
    words = re.findall(r"^ *(?:import|from) (gradtape(?:\.\w+)*)\b", path.read_text(), re.M)
    return set(words)


def graph() -> dict[str, set[str]]:
    """For each module the ones that it imports, at once or when a function is called."""
    names = {".".join(p.relative_to(PACKAGE).with_suffix("").parts): p for p in MODULES}
    names = {name.removesuffix("__init__").removesuffix("."): p for name, p in names.items()}
    edges = {}
    for name, path in names.items():
        relative = {m for m in imports(path) if m in names and m != name}
        edges[name] = relative | {m.removeprefix("gradtape").lstrip(".") for m in absolute(path)}
    return edges


def knots(edges: dict[str, set[str]]) -> list[set[str]]:
    """Modules that lead to each other (Tarjan's strongly connected components), largest first."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    components: list[set[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for other in edges[name]:
            if other not in number:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], number[other])
        if lowest[name] == number[name]:
            knot = {stack.pop()}
            while name not in knot:
                knot.add(stack.pop())
            components.append(knot)

    for name in edges:
        if name not in number:
            visit(name)
    return sorted(components, key=len, reverse=True)


def test_modules_that_need_each_other_are_few() -> None:
    assert len(knots(graph())[0]) <= 20


def test_imports_are_read_as_python_reads_them() -> None:
    for path in (PACKAGE / "autodiff" / "tape.py", PACKAGE / "doctor" / "engines" / "choice.py"):
        tree = ast.walk(ast.parse(path.read_text()))
        relative = [n for n in tree if isinstance(n, ast.ImportFrom) and n.level]
        read = IMPORT.findall(path.read_text())
        assert sorted((n.level, n.module or "") for n in relative) == sorted(
            (len(dots), module) for dots, module, _ in read
        )
        assert imports(path)


@pytest.mark.parametrize("room", sorted({p.relative_to(PACKAGE).parts[0] for p in MODULES}))
def test_a_room_imports_only_what_stands_before_it(room: str) -> None:
    place, inner = ranks(LAYERS), ranks(DOCTOR)
    for path in MODULES:
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if path.relative_to(PACKAGE).parts[0] != room:
            continue
        for module in imports(path):
            other = module.split(".")
            name = str(path.relative_to(PACKAGE))
            if module in FREE or (name, module) in EXCEPTIONS:
                continue
            assert place[other[0]] <= place[parts[0]], f"{name} imports {module}"
            if parts[0] == other[0] == "doctor" and len(other) > 1:
                assert inner[other[1]] <= inner[parts[1]], f"{name} imports {module}"


def test_exceptions_are_needed() -> None:
    assert {(name, module) for name, module in EXCEPTIONS if module in imports(PACKAGE / name)} == (
        EXCEPTIONS
    )


def test_the_doctor_knows_engines_only_in_their_room() -> None:
    """Beside what is the same on all: the version, how a program is run, what a fork does, files
    for TensorBoard."""
    allowed = {"doctor", "version", "traits", "traits.table", "api.run", "ops.kernels.forks"}
    allowed |= {"summary.kinds", "summary.writers"}
    for path in (PACKAGE / "doctor").rglob("*.py"):
        if "engines" not in path.relative_to(PACKAGE).parts:
            others = {m for m in imports(path) if m.split(".")[0] != "doctor" and m not in allowed}
            assert others | absolute(path) == set(), path


def test_every_module_says_what_it_is_for() -> None:
    assert [p for p in MODULES if not p.read_text().startswith(('"""', 'r"""'))] == []


def test_places_know_what_is_gradtapes() -> None:
    packages = [".".join(p.parent.relative_to(PACKAGE.parent).parts) for p in MODULES]
    assert all(place.is_ours(package) for package in packages)
    assert not any(place.is_ours(package) for package in ("gradtape_extra", "tests", "", None))


def test_every_op_is_declared_whole() -> None:
    for name, op in OPS.items():
        assert callable(op.shape), name
        assert op.push == "diagonal" or callable(op.sample), f"{name} needs operands to test with"
        for rule in op.rules:
            told = isinstance(rule, Reason) and rule.why
            assert rule is None or callable(rule) or told, name


def test_importing_gradtape_is_light() -> None:
    heavy = {"scipy", "ml_dtypes", "opt_einsum", "rich", "jax", "keras", "tensorflow", "inspect"}
    code = "import sys, gradtape; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    base = subprocess.run(
        [sys.executable, "-c", "import sys, numpy; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not heavy & (set(out.stdout.split()) - set(base.stdout.split()))
