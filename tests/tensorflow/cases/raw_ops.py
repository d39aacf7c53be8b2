"""`tf.raw_ops`: arguments by keyword only, and what attributes and inputs may be."""

import numpy as np

from tests.tensorflow.harness import attempt, case, cases

X, Y = [[1.0, -2.0], [3.0, 0.5]], [[0.5, 4.0], [2.0, 1.0]]
UNARY = "Abs Ceil Cos Erf Exp Floor Log1p Neg Relu Rsqrt Sigmoid Sign Sin Softplus Square Tanh"
BINARY = "AddV2 DivNoNan FloorDiv FloorMod Less Maximum Mul Pow RealDiv Sub SquaredDifference"
REDUCTIONS = "All Any EuclideanNorm Max Mean Min Prod Sum"


@cases(op=UNARY.split())
def unary(tf, op):
    call = getattr(tf.raw_ops, op)
    name = "features" if op in ("Relu", "Softplus") else "x"
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = call(**{name: x})
    return y, tape.gradient(y, x), attempt(lambda: call(x)), attempt(lambda: call(y=x))


@cases(op=BINARY.split())
def binary(tf, op):
    call = getattr(tf.raw_ops, op)
    x, v = tf.constant(X), tf.Variable(Y)
    return {
        "tensors": call(x=x, y=tf.constant(Y)),
        "numbers": call(x=2.0, y=x),
        "variable": call(x=x, y=v, name="n"),
        "array": attempt(lambda: call(x=np.array(X), y=v)),
        "other_dtype": attempt(lambda: call(x=x, y=tf.constant(Y, tf.float64))),
        "list": attempt(lambda: call(x=[[1, 2]], y=v)),
        "missing": attempt(lambda: call(x=x)),
        "positional": attempt(lambda: call(x, x)),
        "unknown": attempt(lambda: call(x=x, y=x, z=x)),
        "none": attempt(lambda: call(x=x, y=None)),
    }


@cases(op=REDUCTIONS.split())
def reductions(tf, op):
    call = getattr(tf.raw_ops, op)
    x = tf.constant([[True, False], [True, True]]) if op in ("All", "Any") else tf.constant(X)
    return {
        "axis": call(input=x, axis=1),
        "kept": call(input=x, axis=[0, 1], keep_dims=True),
        "none": attempt(lambda: call(input=x, axis=None)),
        "fraction": attempt(lambda: call(input=x, axis=0.5)),
        "complex": attempt(lambda: call(input=x, axis=1j)),
        "beyond": attempt(lambda: call(input=x, axis=1 << 70)),
        "number_kept": attempt(lambda: call(input=x, axis=0, keep_dims=1)),
        "both_wrong": attempt(lambda: call(input=x, axis=9, keep_dims=[0.5])),
    }


@case
def products(tf):
    a, b = tf.constant(X), tf.constant(Y)
    call = tf.raw_ops.MatMul
    return {
        "plain": call(a=a, b=b),
        "turned": call(a=a, b=b, transpose_a=True, transpose_b=True),
        "stack": attempt(lambda: call(a=tf.ones([2, 2, 2]), b=tf.ones([2, 2, 2]))),
        "flag": attempt(lambda: call(a=a, b=b, transpose_a=1)),
        "variable": attempt(lambda: call(a=(1,), b=tf.Variable([1.0]))),
    }


@case
def others(tf):
    raw = tf.raw_ops
    x = tf.constant(X)
    sparse = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    return {
        "argmax": raw.ArgMax(input=x, dimension=0, output_type=tf.int32),
        "cumsum": raw.Cumsum(x=x, axis=0, reverse=True),
        "select": raw.SelectV2(condition=x > 0, t=x, e=0.0),
        "select_list": attempt(lambda: raw.SelectV2(condition=tf.constant(1), t=[1.0], e=[2.0])),
        "transpose": raw.Transpose(x=x, perm=[1, 0]),
        "shape": raw.Shape(input=x, out_type=tf.int64),
        "shape_of_sparse": attempt(lambda: raw.Shape(input=sparse)),
        "dtype": attempt(lambda: raw.Shape(input=x, out_type="junk")),
        "lu": attempt(lambda: raw.Lu(input=[1.0], output_idx_type="junk")),
        "message": attempt(lambda: raw.CheckNumerics(tensor=x, message=3)),
        "fill": raw.Fill(dims=[2], value=1.5),
        "gather_nd": raw.GatherNd(params=x, indices=[[1, 0]]),
        "gather_nd_scalar": attempt(lambda: raw.GatherNd(params=1.0, indices=np.zeros(0, int))),
        "no_such_op": attempt(lambda: raw.NoSuchOp).__class__.__name__,
    }
