"""What an argument is, by its name: source text of plausible values, and of wrong ones.

The wild distribution (`wild`) draws every argument of a function from its signature here. A value
that the program shall feed and follow (a tensor, a variable, an array) becomes an input of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.tensorflow.fuzz.draw import COMPLEX, EMPTY, FLOATS, HALVES, SHAPES, SMALL, WHOLE, Draw

Shape = tuple[int, ...]
WIDE: dict[str, float] = {
    "float32": 48, "float64": 18, "int32": 12, "int64": 6, "float16": 5, "bfloat16": 5,
    "complex64": 4, "complex128": 4, **dict.fromkeys(SMALL, 2), "bool": 4, "string": 2,
}  # fmt: skip
LIMITS = {name: (int(np.iinfo(name).min), int(np.iinfo(name).max)) for name in (*WHOLE, *SMALL)}
LARGEST = {"float16": 65504.0, "bfloat16": 3.0e38, "float32": 3.0e38, "float64": 1e308}
WORDS = ["", "a", "tape", "1.5", "Ü b", "-3"]
# How an operand comes: what makes it, and how often.
FORMS = {"constant": 40, "variable": 14, "array": 22, "python": 18, "scalar": 6}
# What an array's memory may look like.
LAYOUTS = ("", "", "", "fortran", "strided", "readonly", "big", "backward")

DTYPES = (*FLOATS, *HALVES, *COMPLEX, *WHOLE, *SMALL, "bool", "string")

# The parameters that are of a kind, by their names.
KINDS = {
    "axis": """axis axis1 axis2 axisa axisb axisc dim seq_axis batch_axis source destination
        reduction_dimension batch_dims""",
    "axes": "axes perm reduction_indices",
    "size": """k n num depth num_segments num_partitions minlength maxlength maxlen num_rows
        num_columns num_cols num_classes num_lower num_upper block_size rate stride repeats shift
        num_samples target_height target_width offset_height offset_width frame_length frame_step
        window_length M N ndmin decimals offset num_buckets vocab_size num_sampled num_true
        range_max max_output_size num_split num_results skip nbins width precision summarize
        depth_radius filter_size rank ndim bitcast k1 ddof maxsplit pos len ngram_width ragged_rank
        num_mel_bins num_spectrogram_bins beam_width top_paths blank_index default_id
        max_iter fft_length padding_width fft_size num_bits""",
    "sizes": """shape size output_shape newshape dims multiples reps begin end strides ksize ksizes
        dilations window_shape block_shape crop_size noise_shape batch_shape filter_sizes
        input_sizes shape_x shape_y dense_shape new_shape inner_shape sizes rates
        indices_or_sections num_or_size_splits""",
    "pairs": "paddings crops pad_width",
    "dtype": """dtype out_type output_type Tout type out_idx output_dtype index_type tensor_dtype
        dtype_hint output_idx_type Treal Tcomplex row_splits_dtype type1 type2 arg1 arg2
        type_value fn_output_signature""",
    "indices": """indices segment_ids ids partitions labels targets row_splits seq_lengths lengths
        arr predictions sequence_length true_classes sampled_candidates label_length logit_length
        box_indices partition splits pos_weight_ids""",
    "flag": """keepdims exclusive reverse conjugate transpose_a transpose_b adjoint_a adjoint_b
        a_is_sparse b_is_sparse adjoint lower full_matrices compute_uv sorted stable endpoint
        retstep binary_output fast validate_args validate_indices antialias preserve_aspect_ratio
        replace_global normalize approximate unique exact_output pad_end periodic increasing
        decreasing returned copy equal_nan upper saturate infer_shape eigvals_only
        merge_repeated compute_full_loss scientific shortest expand_composites ragged""",
    "seed": "seed",
    "fraction": """alpha beta epsilon stddev mean minval maxval clip_norm delta gamma gain
        variance_epsilon l2_regularizer rcond tol rtol atol max_val max_delta lam base fill_value
        on_value off_value padding_value pad_value constant_values default_value clip_value_min
        clip_value_max a_min a_max low high contrast_factor saturation_factor central_fraction
        iou_threshold score_threshold threshold filter_sigma power_factors scalar start stop limit
        step recall_target extrapolation_value limits starts deltas val v ord sigma""",
    "word": """padding data_format mode method direction side align norm unit encoding
        input_encoding output_encoding errors order kind indexing bad_indices_policy combiner
        pooling_type alg layout diagonals_format equation subscripts message separator pattern
        rewrite template fill placeholder""",
    "function": "fn func f true_fn false_fn body window_fn forward_window_fn",
    "truths": "condition mask where pred to_retain condlist",
    "several": """inputs values tensors arys tup arrays t_list coeffs elems loop_vars shapes
        choicelist structure""",
    "sparse": "sp_input sp_a sp_b sp_ids sparse_ids hypothesis truth sp_inputs sp_weights",
    "name": "name",
}
KIND = {name: kind for kind, names in KINDS.items() for name in names.split()}

WORD = {
    "padding": ["SAME", "VALID", "same", "EXPLICIT"],
    "data_format": ["NHWC", "NCHW", "NWC", "NDHWC"],
    "mode": ["CONSTANT", "REFLECT", "SYMMETRIC", "reflect", "constant"],
    "method": ["bilinear", "nearest", "bicubic", "area", "lanczos3"],
    "direction": ["ASCENDING", "DESCENDING"],
    "side": ["left", "right"],
    "align": ["LEFT_RIGHT", "LEFT_LEFT", "RIGHT_LEFT", "RIGHT_RIGHT"],
    "norm": ["ortho"],
    "unit": ["BYTE", "UTF8_CHAR"],
    "encoding": ["", "utf-8"],
    "input_encoding": ["UTF-8", "UTF-16-BE"],
    "output_encoding": ["UTF-8", "UTF-16-BE"],
    "errors": ["strict", "replace", "ignore"],
    "order": ["C", "F", "K"],
    "kind": ["quicksort", "stable"],
    "indexing": ["xy", "ij"],
    "bad_indices_policy": ["", "DEFAULT", "ERROR", "IGNORE"],
    "combiner": ["mean", "sum", "sqrtn"],
    "pooling_type": ["MAX", "AVG"],
    "alg": ["auto_select", "philox", "threefry"],
    "equation": ["ij,jk->ik", "ij->ji", "...i->...", "ii->i", "i,j->ij"],
    "subscripts": ["ij,jk->ik", "ij->ji", "...i->...", "ii->i", "i,j->ij"],
    "diagonals_format": ["compact", "matrix", "sequence"],
    "pattern": ["a", "[a-z]+", "("],
}

# What an argument is not.
WRONG = """
None | 'junk' | [[1.0], [2.0, 3.0]] | -7 | 99 | 2.5 | [] | True | {} | object() | () | [None] | b'x'
np.array([True, False]) | tf.constant(['a', 'b']) | tf.constant([[1, 2], [0, 1]]) | [1, 'a'] | 1j
2**31 | -(2**31) - 1 | 2**62 | 2**63 | 2**70 | 1e300 | float('nan') | -float('inf')
np.float16(1.5) | np.uint64(2**64 - 1) | tf.zeros([0]) | tf.zeros([2, 0, 3])
tf.ones([1, 1, 1, 1, 1, 1, 1]) | 0 | -1
tf.constant(2**40, tf.int64) | [2**31, 2**31, 2**31] | [-1, -1] | [-2] | (1,) | [[[1]]] | np.nan
tf.constant([1.0, 2.0], tf.float64) | tf.constant(True) | np.array(3) | np.zeros((0, 2)) | range(3)
tf.constant([1.0, float('nan'), float('inf')]) | tf.float32 | tf.TensorShape([2, 3]) | 'float32'
tf.TensorShape(None) | [0.5, 1.5] | np.int64(2) | np.bool_(True) | {'a': 1.0} | tf.Variable(1.0)
tf.constant([3, 1, 2], tf.uint8) | tf.constant(1.0, tf.bfloat16) | [[1, 2], [3, 4]] | '' | 1.0 | 3
tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]]) | tf.ragged.constant([[1.0, 2.0], [3.0]])
np.float64(1) | tf.constant(1 + 2j) | np.array(['a', 'b']) | np.array([1.0, 2.0], np.float16)
[True, False] | [1.0, 2]
"""
SPARSE = """
tf.sparse.from_dense([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]) | tf.sparse.eye(3)
tf.SparseTensor([[0, 1], [1, 0]], [2, 3], [2, 3]) | tf.sparse.from_dense([[0, 0], [0, 0]])
tf.SparseTensor([[0, 0], [1, 2]], tf.constant([1.0, 2.0], tf.float64), [2, 3])
tf.SparseTensor([[0]], ['a'], [2])
"""
FUNCTIONS = """
tf.sin | lambda x: x * 2 | lambda x: x | lambda x, y: x + y | lambda: tf.constant(1.0) | tf.square
lambda x: tf.reduce_sum(x) | lambda *a: a | tf.signal.hann_window | lambda x: (x, x)
"""


class Arguments:
    """Draws source text for one call: operands share a shape and a dtype, mostly."""

    def __init__(self, draw: Draw, name: str) -> None:
        self.draw = draw
        self.name = name
        self.shape: Shape = self._common_shape()
        self.dtype: str = self._common_dtype()
        self.of: list[str] = []

    def _common_shape(self) -> Shape:
        d = self.draw
        if d.chance(0.08):
            return d.one(EMPTY)
        space = self.name.rpartition(".")[0]
        shapes = {
            "linalg": [(2, 2), (3, 3), (2, 3), (2, 2, 2), (3,), (3, 1)],
            "image": [(4, 4, 3), (2, 4, 5, 3), (5, 4, 1), (1, 4, 4, 2)],
            "signal": [(8,), (2, 8), (4, 4), (2, 4, 4), (3,)],
            "nn": [(1, 4, 4, 2), (2, 3), (3,), (1, 5, 2), (2, 4, 3)],
        }.get(space)
        return d.one(shapes) if shapes and d.chance(0.8) else d.one(SHAPES)

    def _common_dtype(self) -> str:
        d = self.draw
        if d.chance(0.8):
            if self.name.startswith("strings."):
                return "string"
            if self.name.startswith("bitwise"):
                return d.one([*WHOLE, *SMALL])
            if "logical_" in self.name or self.name in ("reduce_all", "reduce_any"):
                return "bool"
            if self.name.startswith("signal.") and "fft" in self.name and "rfft" not in self.name:
                return d.one(COMPLEX)
        return d.rng.choices(list(WIDE), list(WIDE.values()))[0]

    # ------------------------------------------------------------------------------ operands

    def operand(self, shape: Shape | None = None, dtype: str = "") -> str:
        """The name of a value of the program: one that is there, or a new input."""
        d = self.draw
        results = [step["to"] for step in d.steps]
        if results and (d.chance(0.4) or not any(name in results for name in self.of)):
            name = results[-1] if d.chance(0.7) else d.one(results)
        elif d.inputs and d.chance(0.08):
            name = d.one([given["name"] for given in d.inputs])
        else:
            name = self.input(self._near(self.shape if shape is None else shape), dtype)
        if name not in self.of:
            self.of.append(name)
        return f"{{{self.of.index(name)}}}"

    def _near(self, shape: Shape) -> Shape:
        """The shape; sometimes one that it broadcasts with, or another."""
        d = self.draw
        if d.chance(0.87):
            return shape
        if shape and d.chance(0.5):
            return d.one([shape[1:], (1, *shape[1:]), (*shape[:-1], 1), ()])
        return d.one(EMPTY) if d.chance(0.2) else d.one(SHAPES)

    def input(self, shape: Shape, dtype: str = "") -> str:
        """A new input of a form of its own."""
        d = self.draw
        if not dtype:
            other = d.chance(0.05)
            dtype = d.rng.choices(list(WIDE), list(WIDE.values()))[0] if other else self.dtype
        form = d.rng.choices(list(FORMS), list(FORMS.values()))[0]
        if form == "scalar" and (shape or dtype == "string"):
            form = "array" if shape else "python"
        if form == "python" and 0 in shape[:-1]:
            form = "array"
        name = f"x{len(d.inputs)}"
        wild = d.chance(0.12)
        numbers = [self.number(dtype, wild) for _ in range(math.prod(shape))]
        given: dict[str, Any] = {"name": name, "kind": form, "dtype": dtype, "shape": list(shape)}
        if form == "array" and dtype not in ("bfloat16", "string"):
            given["layout"] = d.one(LAYOUTS)
        d.inputs.append({**given, "values": numbers})
        d.known[name] = shape, dtype
        return name

    def number(self, dtype: str, wild: bool) -> Any:
        d = self.draw
        if dtype == "string":
            return d.one(WORDS)
        if dtype in LIMITS:
            low, high = LIMITS[dtype]
            if wild and d.chance(0.4):
                return d.one([low, high, high - 1, low + 1, high // 2 + 1])
            return d.rng.randint(max(low, -3), 5)
        if wild and dtype in LARGEST and d.chance(0.15):
            return d.one([LARGEST[dtype], -LARGEST[dtype], 1e-7, 1e-40])
        return d.number(dtype, d.chance(0.3), wild)

    # ----------------------------------------------------------------------------- parameters

    def text(self, parameter: str) -> str:
        """The source of a value for the parameter of this name."""
        kind = KIND.get(parameter.lstrip("*"), "operand")
        maker: Callable[[str], str] = getattr(self, "_" + kind)
        return maker(parameter)

    def _operand(self, parameter: str) -> str:
        return self.operand()

    def _whole(self, number: int) -> str:
        """A whole number in one of the forms in which numbers come."""
        forms = [
            "{}", "{}", "{}", "{}", "{}", "np.int64({})", "np.int32({})", "np.array({})",
            "tf.constant({})", "tf.constant({}, tf.int64)",
        ]  # fmt: skip
        return self.draw.one(forms).format(number)

    def _axis(self, parameter: str) -> str:
        d = self.draw
        rank = len(self.shape)
        near = d.rng.randint(-rank, max(rank - 1, 0))
        if d.chance(0.2):
            near = d.one([rank, -rank - 1, 5])
        if d.chance(0.15):
            return d.one([f"[{near}]", f"({near}, {near - 1})", "[]", "None", f"[{near}, 0]"])
        return self._whole(near)

    def _axes(self, parameter: str) -> str:
        d = self.draw
        rank = len(self.shape)
        found = list(range(rank))
        d.rng.shuffle(found)
        if d.chance(0.3):
            found = found[: d.rng.randint(0, rank)]
        return d.one(
            [str(found), str(tuple(found)), f"np.array({found}, np.int32)", "1", "[[0], [0]]"]
        )

    def _size(self, parameter: str) -> str:
        d = self.draw
        return self._whole(d.one([0, 1, 1, 2, 2, 3, 3, 4, 5, 8, -1]))

    def _sizes(self, parameter: str) -> str:
        d = self.draw
        rank = len(self.shape) if d.chance(0.7) else d.rng.randint(0, 4)
        total = math.prod(self.shape)
        numbers = [
            d.one([1, 1, 2, 2, 3, 0, -1] if d.chance(0.4) else [1, 2, 3]) for _ in range(rank)
        ]
        choices = [str(list(self.shape)), str(numbers), str(numbers), str(tuple(numbers))]
        choices += [
            f"[{total}]",
            f"[-1, {max(total // 2, 1)}]",
            self._whole(d.one([1, 2, 3, total])),
        ]
        choices += [f"np.array({numbers}, np.int64)", f"tf.constant({numbers}, tf.int32)"]
        choices += [f"tf.TensorShape({list(self.shape)})"]
        return d.one(choices)

    def _pairs(self, parameter: str) -> str:
        d = self.draw
        pairs = [[d.rng.randint(0, 2), d.rng.randint(0, 2)] for _ in self.shape]
        return d.one(
            [str(pairs), str(pairs), f"np.array({pairs}, np.int32)", f"tf.constant({pairs})"]
        )

    def _dtype(self, parameter: str) -> str:
        d = self.draw
        dtype = d.one([self.dtype, "float32", "int64", "int32", *DTYPES])
        forms = ["tf.{}", "tf.{}", "'{}'"]
        if dtype not in ("bfloat16", "string"):
            forms.append("np.{}" if dtype != "bool" else "bool")
        return d.one(forms).format(dtype)

    def _indices(self, parameter: str) -> str:
        d = self.draw
        count = self.shape[0] if self.shape else d.rng.randint(0, 3)
        high = max(count - 1, 0) if d.chance(0.85) else 6
        low = 0 if d.chance(0.9) else -2
        numbers: Any = [d.rng.randint(low, high) for _ in range(count)]
        if "segment" in parameter and d.chance(0.7):
            numbers.sort()
        if parameter == "indices" and d.chance(0.4):
            numbers = [[n] for n in numbers]
        forms = [
            "{}", "{}", "np.array({}, np.int64)", "np.array({}, np.int32)",
            "tf.constant({}, tf.int32)", "tf.constant({}, tf.int64)",
        ]  # fmt: skip
        if d.chance(0.08):
            forms = [
                "np.array({}, np.uint8)",
                "tf.constant({}, tf.int8)",
                "np.array({}, np.float32)",
            ]
        return d.one(forms).format(numbers)

    def _flag(self, parameter: str) -> str:
        return self.draw.one(["True", "True", "True", "False", "1", "np.bool_(True)"])

    def _seed(self, parameter: str) -> str:
        d = self.draw
        pair = [d.rng.randint(0, 99), d.rng.randint(0, 99)]
        if "stateless" in self.name or d.chance(0.1):
            return d.one([str(pair), str(tuple(pair)), f"tf.constant({pair})", f"np.array({pair})"])
        return str(pair[0])

    def _fraction(self, parameter: str) -> str:
        d = self.draw
        if d.chance(0.3):
            return self.operand(() if d.chance(0.7) else None)
        number = d.one([0.0, 0.5, 1.0, 2.0, -1.0, 1.5, 1, 2, 3, 0, 1e-3, -2, 5])
        forms = ["{}", "{}", "{}", "np.float32({})", "np.float64({})", "tf.constant({})"]
        return d.one(forms).format(number)

    def _word(self, parameter: str) -> str:
        return repr(self.draw.one(WORD.get(parameter, ["a", "-", "{}", "junk"])))

    def _function(self, parameter: str) -> str:
        return self.draw.one(FUNCTIONS)

    def _truths(self, parameter: str) -> str:
        d = self.draw
        if d.chance(0.4):
            return self.operand(dtype="bool")
        numbers = [d.chance(0.5) for _ in range(self.shape[0] if self.shape else 1)]
        return d.one([str(numbers), f"np.array({numbers})", f"tf.constant({numbers})", "True"])

    def _several(self, parameter: str) -> str:
        d = self.draw
        if d.chance(0.25):
            return self.operand()
        parts = ", ".join(self.operand() for _ in range(d.one([1, 2, 2, 2, 3])))
        return f"[{parts}]" if d.chance(0.7) else f"({parts},)"

    def _sparse(self, parameter: str) -> str:
        return self.draw.one(SPARSE)

    def _name(self, parameter: str) -> str:
        return self.draw.one(["'n'", "None", "''", "'a b'"])
