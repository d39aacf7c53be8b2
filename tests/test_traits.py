"""Traits of ops: their kinds are TensorFlow's or ours, and they hold for the ops that we have."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape.doctor
from gradtape.core.op import LETTERS, Op, registry
from gradtape.ops.declare import elementwise
from gradtape.ops.reasons import Reason
from gradtape.traits import LINEAR, Family, Traits, at, declare, declared
from gradtape.traits.table import TABLE, traits_of
from tests.doctor.programs import diagnose, sketch
from tests.ops.samples import OPS as BY_NAME
from tests.tensorflow.api.record import OPS as LABELS

TENSORFLOW = frozenset(LABELS.read_text().split())
DOCTOR = Path(gradtape.doctor.__file__).parent
JUDGING = [path for room in ("facts", "rules", "trace") for path in (DOCTOR / room).rglob("*.py")]
OPS = list(BY_NAME.values())
NO_DERIVATIVE = Family.COMPARES | Family.ROUNDS | Family.FINDS | Family.SAMPLES


def ours(families: Family) -> list[Op]:
    return [op for op in OPS if traits_of(op.kind).has(families)]


def test_kinds_are_ops_of_tensorflow_or_of_ours() -> None:
    kinds = {op.kind for op in OPS}
    assert sorted(set(TABLE) - TENSORFLOW - kinds) == []


def test_what_the_doctor_compares_with_an_op_is_one() -> None:
    """`event.kind == "HardSigmoid"` can never be true."""
    known = TENSORFLOW | {op.kind for op in OPS} | {"CustomGradient", "Conv1D"}
    for path in [
        *DOCTOR.glob("facts/*.py"),
        *DOCTOR.glob("rules/*/*.py"),
        *DOCTOR.glob("trace/*.py"),
    ]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("event.kind"):
                for side in node.comparators:
                    kind = side.value if isinstance(side, ast.Constant) else None
                    assert kind is None or kind in known or kind.startswith("assign"), (path, kind)


def test_facts_and_rules_have_no_tables_of_ops() -> None:
    for path in [
        *DOCTOR.glob("facts/*.py"),
        *DOCTOR.glob("rules/*/*.py"),
        *DOCTOR.glob("trace/*.py"),
    ]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Set, ast.Tuple, ast.List)):
                names = {e.value for e in node.elts if isinstance(e, ast.Constant)}
                layers = {"Dense", "Dropout", "Flatten"}  # of Keras: some are called as ops are
                assert len(names & TENSORFLOW) < 2 or names & layers, f"{path}:{node.lineno}"


def test_each_kind_has_its_traits_from_one_place() -> None:
    assert declared.keys().isdisjoint(TABLE)
    with pytest.raises(ValueError, match="twice"):
        declare("LogSumExp", Traits())


@pytest.mark.parametrize("op", ours(LINEAR), ids=lambda op: op.name)
def test_rules_of_linear_ops_name_no_numbers(op: Op) -> None:
    operands = {name for names in op.names for name in names if name in (*LETTERS, "y")}
    positions = set(LETTERS[1:]) if traits_of(op.kind).has(Family.INDEXED) else set()
    assert operands <= positions, operands


@pytest.mark.parametrize("op", ours(NO_DERIVATIVE), ids=lambda op: op.name)
def test_what_has_no_derivative_has_a_reason(op: Op) -> None:
    assert all(rule is None or isinstance(rule, Reason) for rule in op.rules)


def poles() -> list[Any]:
    """An op, one of its regions, and a number in it."""
    cases = []
    for op in OPS:
        for region in traits_of(op.kind).poles:
            for edge in region.edges:
                number = next(x for x in (edge, edge - 0.5) if region.contains(np.asarray(x)))
                cases.append(pytest.param(op, region, number, id=f"{op.name}-{number:g}"))
    return cases


@pytest.mark.parametrize(("op", "region", "number"), poles())
def test_nothing_is_finite_at_a_pole(op: Op, region: Any, number: float) -> None:
    """The result or a derivative is not, for one of these other operands."""
    others = {"Pow": (0.5, -1.0), "Atan2": (0.0,), "Igamma": (0.5,), "Igammac": (0.5,)}
    results = []
    with np.errstate(all="ignore"):
        for other in others.get(op.kind, (1.0,)):
            values = [np.array([other], "f8") for _ in op.rules]
            values[region.operand] = np.array([number], "f8")
            results += [op.forward(*values), *pulled(op, values)]
    assert not all(np.isfinite(r).all() for r in results), results


def pulled(op: Op, values: list[Any]) -> list[Any]:
    import gradtape as tf

    tensors = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        result = op.apply(*tensors)
    gradients = tape.gradient(result, tensors)
    return [np.asarray(g) for g in gradients if g is not None]


def test_a_new_op_with_a_pole_is_diagnosed(request: pytest.FixtureRequest) -> None:
    """What CONTRIBUTING says under "Adding an op": nothing else is to be written."""
    logit = elementwise(
        "logit_of_test", lambda a: np.log(a / (1.0 - a)), lambda g, a: g / (a * (1.0 - a)),
        traits=Traits(Family.ELEMENTWISE, (at(1.0),)),
    )  # fmt: skip
    request.addfinalizer(lambda: registry.pop("logit_of_test"))
    request.addfinalizer(lambda: declared.pop(logit.kind))
    from gradtape.framework.tensor import Tensor

    assert isinstance(logit.apply(gradtape.constant([0.5])), Tensor)
    program = """\
from gradtape.core.op import registry
x = tf.Variable([0.5, 1.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(registry["logit_of_test"].apply(x))
grad = tape.gradient(y, x)
"""
    (finding,) = diagnose("import gradtape as tf\n" + program).findings.values()
    assert finding.code == "GT307"
    assert "is 1 (1 of 2 numbers)" in finding.message, sketch(finding)
