"""Names of the top level and of small namespaces: counts, places, text, conversions."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import NAN, fill, first_only, grads, tensor
from tests.tensorflow.harness import attempt, case, cases

# ------------------------------------------------------------------------------------ counts


@cases(
    op=["histogram_fixed_width", "histogram_fixed_width_bins"],
    dtype=["float32", "float64", "int32"],
)
def histogram(tf, op, dtype):
    values = tensor(tf, [[-1, 0, 1.5], [2, 5, 15]], dtype)
    span = tensor(tf, [0, 5], dtype)
    call = getattr(tf, op)
    return call(values, span, nbins=5), call(values, span), call(values, span, 3, tf.int64)


@cases(
    given={
        "nan": lambda tf: tf.histogram_fixed_width([1.0, NAN], [0.0, 5.0], 5),
        "no_bins": lambda tf: tf.histogram_fixed_width([1.0], [0.0, 5.0], nbins=0),
        "no_bins_places": lambda tf: tf.histogram_fixed_width_bins([1.0], [0.0, 5.0], nbins=0),
        "no_range": lambda tf: tf.histogram_fixed_width([1.0], [5.0, 5.0], nbins=2),
        "empty": lambda tf: tf.histogram_fixed_width(tf.zeros([0]), [0.0, 5.0], nbins=2),
        "random": lambda tf: tf.histogram_fixed_width(fill((50,)), [-1.5, 1.75], nbins=7),
        "unravel": lambda tf: tf.unravel_index([2, 5, 7], [3, 3]),
        "unravel_one": lambda tf: tf.unravel_index(7, [3, 3]),
        "unravel_deep": lambda tf: tf.unravel_index([0, 22, 23], [2, 3, 4]),
        "unravel_int64": lambda tf: tf.unravel_index(
            tf.constant([2], tf.int64), tf.constant([3, 3], tf.int64)
        ),
        "unravel_beyond": lambda tf: tf.unravel_index([2, 9], [3, 3]),
        "unravel_negative": lambda tf: tf.unravel_index([-1], [3, 3]),
        "paddings": lambda tf: tf.required_space_to_batch_paddings([5, 7], [2, 3]),
        "paddings_base": lambda tf: tf.required_space_to_batch_paddings(
            [5, 7], [2, 3], [[1, 0], [2, 1]]
        ),
        "to_batch": lambda tf: tf.space_to_batch_nd(
            tf.reshape(tf.range(16.0), [1, 4, 4, 1]), [2, 2], [[0, 0], [0, 0]]
        ),
        "parallel": lambda tf: tf.parallel_stack([[1.0, 2.0], [3.0, 4.0]]),
        "fingerprint": lambda tf: tf.fingerprint(["a", "bc", "x" * 20, "y" * 40, "z" * 200]),
        "fingerprint_numbers": lambda tf: tf.fingerprint(tf.constant([[1, 2], [3, 4]])),
        "fingerprint_floats": lambda tf: tf.fingerprint([1.0, 2.0]),
        "fingerprint_method": lambda tf: tf.fingerprint(["a"], method="md5"),
        "fingerprint_scalar": lambda tf: tf.fingerprint("a"),
        "constant": lambda tf: tf.guarantee_const(tf.constant([1.0])),
        "no_gradient": lambda tf: tf.no_gradient("SomeOp"),
        "no_gradient_number": lambda tf: tf.no_gradient(3),
    }
)
def counts(tf, given):
    return attempt(lambda: given(tf))


@cases(normalize=[True, False], kind=["text", "numbers"])
def edits(tf, normalize, kind):
    words = ["a", "b", "c", "d", "e"] if kind == "text" else [1, 2, 3, 4, 5]
    pick = lambda *places: [words[k] for k in places]
    guess = tf.SparseTensor(
        [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 0], [1, 1, 0]], pick(0, 1, 2, 1, 4), [2, 2, 3]
    )
    truth = tf.SparseTensor(
        [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 0, 2], [1, 0, 3]],
        pick(1, 2, 0, 0, 1, 3, 1),
        [2, 2, 4],
    )
    return tf.edit_distance(guess, truth, normalize=normalize)


@case
def edits_of_dense(tf):
    return attempt(lambda: tf.edit_distance(tf.constant([1]), tf.constant([1])))


@cases(
    options={
        "valid": ([1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID"),
        "same": ([1, 2, 2, 2, 1], [1, 1, 2, 1, 1], "SAME"),
        "strided": ([1, 1, 2, 3, 1], [1, 2, 2, 2, 1], "SAME"),
    }
)
def volume_patches(tf, options):
    x = tensor(tf, fill((1, 3, 3, 3, 2)))
    return first_only(tf, lambda x: tf.extract_volume_patches(x, *options), x)


# -------------------------------------------------------------------------------------- text

LINES = ["a", "", "hello world", "x" * 17, "y" * 33, "z" * 100]


@cases(
    given={
        "hash": lambda tf: tf.strings.to_hash_bucket(LINES, 1000),
        "hash_fast": lambda tf: tf.strings.to_hash_bucket_fast(LINES, 1 << 40),
        "hash_strong": lambda tf: tf.strings.to_hash_bucket_strong(LINES, 100000, [17, 42]),
        "hash_matrix": lambda tf: tf.strings.to_hash_bucket_fast([["a"], ["b"]], 7),
        "hash_scalar": lambda tf: tf.strings.to_hash_bucket("a", 7),
        "hash_none": lambda tf: tf.strings.to_hash_bucket(["a"], 0),
        "hash_numbers": lambda tf: tf.strings.to_hash_bucket_fast([1], 3),
        "hash_key": lambda tf: tf.strings.to_hash_bucket_strong(["a"], 3, [1]),
        "join": lambda tf: tf.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 3, ":"),
        "join_matrix": lambda tf: tf.strings.unsorted_segment_join(
            [["a", "b"], ["c", "d"]], [[1, 0], [1, 1]], 2
        ),
        "join_rows": lambda tf: tf.strings.unsorted_segment_join(
            [["a", "b"], ["c", "d"]], [1, 0], 2, separator="-"
        ),
        "join_beyond": lambda tf: tf.strings.unsorted_segment_join(["a"], [5], 2),
        "join_negative": lambda tf: tf.strings.unsorted_segment_join(["a"], [-1], 2),
        "ngrams": lambda tf: tf.strings.ngrams(["a", "b", "c"], 2),
        "ngrams_widths": lambda tf: tf.strings.ngrams(
            [["a", "b", "c"]], [1, 2], separator="|", pad_values=("<", ">")
        ),
        "ngrams_ragged": lambda tf: tf.strings.ngrams(
            tf.ragged.constant([["a", "b", "c"], ["d"]]), 2
        ),
        "ngrams_short": lambda tf: tf.strings.ngrams(
            tf.ragged.constant([["a", "b", "c"], ["d"]]), 2, preserve_short_sequences=True
        ),
        "ngrams_padded": lambda tf: tf.strings.ngrams(
            ["a", "b"], 3, pad_values="x", padding_width=1
        ),
        "ngrams_zero": lambda tf: tf.strings.ngrams(["a", "b"], 0),
        "ngrams_pad_type": lambda tf: tf.strings.ngrams(["a"], 2, pad_values=3),
        "decode": lambda tf: tf.strings.unicode_decode(["héllo", "日本"], "UTF-8"),
        "decode_one": lambda tf: tf.strings.unicode_decode("hé", "UTF-8"),
        "decode_wrong": lambda tf: tf.strings.unicode_decode([b"a\xffb\xe6\x97"], "UTF-8"),
        "decode_ignore": lambda tf: tf.strings.unicode_decode([b"a\xffb"], "UTF-8", "ignore"),
        "decode_strict": lambda tf: tf.strings.unicode_decode([b"a\xffb"], "UTF-8", "strict"),
        "decode_control": lambda tf: tf.strings.unicode_decode(
            [b"a\xffb\x01\n"], "UTF-8", replacement_char=65, replace_control_characters=True
        ),
        "decode_utf16": lambda tf: tf.strings.unicode_decode(
            [b"\x00h\xd8\x3d\xde\x00"], "UTF-16-BE"
        ),
        "decode_offsets": lambda tf: tf.strings.unicode_decode_with_offsets(
            ["hé", "日本"], "UTF-8"
        ),
        "encode": lambda tf: tf.strings.unicode_encode([[104, 233], [0x65E5, 0x672C]], "UTF-16-BE"),
        "encode_surrogate": lambda tf: tf.strings.unicode_encode([104, 0xD800], "UTF-8"),
        "encode_strict": lambda tf: tf.strings.unicode_encode([104, 0x110000], "UTF-8", "strict"),
        "encode_ignore": lambda tf: tf.strings.unicode_encode([104, 0x110000], "UTF-8", "ignore"),
        "encode_ragged": lambda tf: tf.strings.unicode_encode(
            tf.ragged.constant([[104], [233, 105]]), "UTF-8"
        ),
        "split": lambda tf: tf.strings.unicode_split(["hé", "日本"], "UTF-8"),
        "split_offsets": lambda tf: tf.strings.unicode_split_with_offsets("hé", "UTF-8"),
        "transcode": lambda tf: tf.strings.unicode_transcode(["hé", b"\xff"], "UTF-8", "UTF-16-BE"),
        "transcode_latin": lambda tf: tf.strings.unicode_transcode([b"h\xe9"], "latin1", "UTF-8"),
        "transcode_unknown": lambda tf: tf.strings.unicode_transcode([b"h"], "nope", "UTF-8"),
    }
)
def text(tf, given):
    return attempt(lambda: given(tf))


# --------------------------------------------------------------- conversions and descriptions


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees


@case
def conversion(tf):
    def kelvin(value, dtype=None, name=None, as_ref=False):
        return tf.constant(value.degrees + 273.0, dtype or tf.float32)

    tf.register_tensor_conversion_function(Celsius, kelvin)
    warm = Celsius(20.0)
    return (
        tf.convert_to_tensor(warm),
        tf.constant(1.0) + warm,
        tf.constant(1.0, tf.float64) * warm,
        tf.reduce_sum(warm),
        tf.convert_to_tensor(warm, tf.float64),
        attempt(lambda: tf.register_tensor_conversion_function(int, kelvin)),
        attempt(lambda: tf.register_tensor_conversion_function("x", kelvin)),
        attempt(lambda: tf.register_tensor_conversion_function(Celsius, 3)),
    )


@case
def creators(tf):
    log = []

    def outer(next_creator, **kwargs):
        log.append(sorted(kwargs))
        return next_creator(**{**kwargs, "initial_value": 7.0})

    def inner(next_creator, **kwargs):
        log.append(kwargs["name"])
        return next_creator(**{**kwargs, "trainable": False})

    with tf.variable_creator_scope(outer):
        with tf.variable_creator_scope(inner):
            v = tf.Variable(1.0, name="v")
        w = tf.Variable([1.0, 2.0], dtype=tf.float64)
    return v, v.trainable, w, w.trainable, log, tf.Variable(2.0)


@cases(
    given={
        "scope": lambda tf: tf.get_current_name_scope(),
        "devices": lambda tf: tf.DeviceSpec(
            job="ps", device_type="CPU", device_index=0
        ).to_string(),
        "device_parts": lambda tf: [
            getattr(tf.DeviceSpec.from_string("/job:w/task:3/gpu:1"), part)
            for part in ("job", "replica", "task", "device_type", "device_index")
        ],
        "device_text": lambda tf: repr(tf.DeviceSpec.from_string("/job:w/replica:0/device:TPU:2")),
        "device_merged": lambda tf: (
            tf.DeviceSpec(job="a", task=1)
            .make_merged_spec(tf.DeviceSpec(job="b", device_type="GPU"))
            .to_string()
        ),
        "device_replaced": lambda tf: tf.DeviceSpec(job="a", task=1).replace(job="x").to_string(),
        "device_wrong": lambda tf: tf.DeviceSpec.from_string("x"),
        "device_equal": lambda tf: (
            tf.DeviceSpec(job="a") == tf.DeviceSpec(job="a"),
            tf.DeviceSpec(job="a") == tf.DeviceSpec(job="b"),
        ),
        "aggregation": lambda tf: (tf.AggregationMethod.DEFAULT, tf.AggregationMethod.ADD_N),
        "array_spec": lambda tf: repr(tf.TensorArraySpec([2], tf.float32, True)),
        "array_specs": lambda tf: (
            tf.TensorArraySpec([2]) == tf.TensorArraySpec([2]),
            tf.TensorArraySpec([2]).is_compatible_with(tf.TensorArraySpec([3])),
            tf.TensorArraySpec([2]).value_type is tf.TensorArray,
        ),
        "none_spec": lambda tf: (
            repr(tf.NoneTensorSpec()),
            tf.NoneTensorSpec().is_compatible_with(None),
        ),
        "features": lambda tf: sorted(f.name for f in tf.autograph.experimental.Feature),
        "not_converted": lambda tf: tf.autograph.experimental.do_not_convert(lambda x: x + 1)(2),
        "not_converted_later": lambda tf: tf.autograph.experimental.do_not_convert()(len)("ab"),
        "loop": lambda tf: tf.autograph.experimental.set_loop_options(maximum_iterations=3),
        "version": lambda tf: tf.__version__ == tf.version.VERSION,
    }
)
def descriptions(tf, given):
    return attempt(lambda: given(tf))


@case
def scopes(tf):
    with tf.name_scope("a"), tf.name_scope("b"):
        return tf.get_current_name_scope()


@case
def trace_types(tf):
    class Fruit(tf.types.experimental.TraceType):
        def __init__(self, name):
            self.name = name

        def is_subtype_of(self, other):
            return self == other

        def most_specific_common_supertype(self, others):
            return self if all(self == other for other in others) else None

        def placeholder_value(self, placeholder_context=None):
            return self.name

        def __hash__(self):
            return hash(self.name)

        def __eq__(self, other):
            return isinstance(other, Fruit) and other.name == self.name

    class Partial(tf.types.experimental.TraceType):
        pass

    apple, pear = Fruit("apple"), Fruit("pear")
    return (
        apple.is_subtype_of(Fruit("apple")),
        apple.most_specific_common_supertype([pear]) is None,
        apple.placeholder_value(),
        apple.to_tensors("apple"),
        apple.flatten(),
        attempt(Partial),
    )


# ----------------------------------------------------------------------------- moving averages


@cases(options={"plain": {}, "counted": {"num_updates": 3}, "fast": {"num_updates": 10000}})
def moving_average(tf, options):
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3.0, tf.float64)
    mean = tf.train.ExponentialMovingAverage(0.9, **options)
    mean.apply([v, w])
    v.assign([3.0, 4.0])
    w.assign(5.0)
    mean.apply([v, w])
    mean.apply([v])
    return mean.average(v).numpy(), mean.average(w).numpy(), mean.name


@cases(
    given={
        "nothing": lambda tf, mean: mean.apply(),
        "constant": lambda tf, mean: mean.apply([tf.constant(1.0)]),
        "unknown": lambda tf, mean: mean.average(tf.Variable(1.0)),
    }
)
def moving_average_arguments(tf, given):
    return attempt(lambda: given(tf, tf.train.ExponentialMovingAverage(0.9)))


@case
def volume_patches_twice(tf):
    x = tensor(tf, fill((1, 2, 2, 2, 1)), "float64")
    ones = [1, 1, 1, 1, 1]
    return grads(tf, lambda x: tf.extract_volume_patches(x, [1, 2, 2, 2, 1], ones, "SAME") ** 2, x)


@case
def guaranteed(tf):
    x = tf.constant(np.float32(2.0))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * tf.guarantee_const(x)
    return attempt(lambda: tape.gradient(y, x))
