"""What `tf.print` and `tf.strings` write, taken from TensorFlow's own output."""

from __future__ import annotations

import logging
import sys
import time

import numpy as np
import pytest

import gradtape as tf

c = tf.constant


def printed(capsys, *inputs, **options):
    tf.print(*inputs, **options)
    out, err = capsys.readouterr()
    assert out == ""
    return err


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ([1, 2.5, "x", None, True], "1 2.5 x None True\n"),
        ([b"a"], "b'a'\n"),
        ([np.float32(1.1)], "np.float32(1.1)\n"),
        ([c([1.0, 2.0])], "[1 2]\n"),
        ([c([[1.0, 2.0], [3.0, 4.0]])], "[[1 2]\n [3 4]]\n"),
        ([c(True), c([True, False])], "1 [1 0]\n"),
        ([c("a")], "a\n"),
        (["a", c("b")], 'a "b"\n'),
        ([c(["a b", "c\nd"])], '["a b" "c\\nd"]\n'),
        (["loss:", c(0.12345678), "step", c(3)], "loss: 0.123456784 step 3\n"),
        ([tf.range(10)], "[0 1 2 ... 7 8 9]\n"),
        ([tf.zeros([0, 3]), tf.zeros([2, 0])], "[] [\n ...]\n"),
        ([tf.reshape(tf.range(8), [2, 2, 2])], "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]\n"),
        ([{"b": 1, "a": c([1.0, 2.0])}], "{'a': [1 2], 'b': 1}\n"),
        ([[c(1), [c(2.0), "x"]]], "[1, [2, 'x']]\n"),
        ([(1,), [], {}], "(1,) [] {}\n"),
        ([{"{}": c(1)}], "{'{}': 1}\n"),
        ([tf.Variable([1.0, 2.0])], "[1 2]\n"),
        ([tf.float32, tf.TensorShape([1, 2])], "tf.float32 TensorShape([1, 2])\n"),
        ([c([1.5, 0.1, 65504.0], tf.float16)], "[1.5 0.0999755859 65504]\n"),
        ([c([1 / 3, 1e-5, 1e10, 123456789.0])], "[0.333333343 1e-05 1e+10 123456792]\n"),
        ([c([1 / 3, 0.1, 1e16], tf.float64)], "[0.33333333333333331 0.1 1e+16]\n"),
        ([c([float("nan"), float("inf"), -0.0])], "[nan inf -0]\n"),
    ],
)
def test_text(capsys, inputs, expected):
    assert printed(capsys, *inputs) == expected


def test_options(capsys):
    assert printed(capsys, 1, 2, sep=", ", end="!") == "1, 2!"
    assert printed(capsys, tf.range(5), summarize=1) == "[0 ... 4]\n"
    assert printed(capsys, tf.range(9), summarize=-1) == "[0 1 2 3 4 5 6 7 8]\n"
    assert printed(capsys) == "\n"


def test_streams(capsys, tmp_path, caplog):
    tf.print("out", output_stream=sys.stdout)
    assert capsys.readouterr() == ("out\n", "")
    path = tmp_path / "log.txt"
    for number in (1, 2):
        tf.print(number, output_stream=f"file://{path}")
    assert path.read_text() == "1\n2\n"
    with caplog.at_level(logging.INFO, logger="gradtape"):
        tf.print("told", output_stream=logging.info)
    assert caplog.messages == ["told"]
    for wrong in ("somewhere", 5):
        with pytest.raises(ValueError, match="Unsupported output stream"):
            tf.print(1, output_stream=wrong)


def test_unknown_options():
    with pytest.raises(ValueError, match="Unrecognized keyword"):
        tf.print(1, colour="red")
    with pytest.raises(TypeError, match="summarize"):
        tf.print(1, summarize="all")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda s: s.as_string(c([1.5, 2.0])), [b"1.500000", b"2.000000"]),
        (lambda s: s.as_string(c(3.14159), precision=2), b"3.14"),
        (lambda s: s.as_string(c(3.14159), scientific=True), b"3.141590e+00"),
        (lambda s: s.as_string(c(1e-7), shortest=True), b"1e-07"),
        (lambda s: s.as_string(c(5), width=4, fill="0"), b"0005"),
        (lambda s: s.as_string(c([True])), [b"true"]),
        (lambda s: s.join([c(["a", "b"]), "x"], separator="_"), [b"a_x", b"b_x"]),
        (lambda s: s.format("{} and {}", (c(1), c("s"))), b'1 and "s"'),
        (lambda s: s.length(["ab", "é"]), [2, 2]),
        (lambda s: s.length("é", unit="UTF8_CHAR"), 1),
        (lambda s: s.lower("ABÉ"), "abÉ".encode()),
        (lambda s: s.lower("ABÉ", encoding="utf-8"), "abé".encode()),
        (lambda s: s.upper(["ab"]), [b"AB"]),
        (lambda s: s.substr(["hello", "abc"], [1, 0], [2, 2]), [b"el", b"ab"]),
        (lambda s: s.strip(c(" a ")), b"a"),
        (lambda s: s.to_number(["1.5", "2"]), [1.5, 2.0]),
        (lambda s: s.reduce_join([["a", "b"], ["c", "d"]], axis=0), [b"ac", b"bd"]),
        (lambda s: s.regex_replace("aXbX", "X", "-"), b"a-b-"),
        (lambda s: s.regex_full_match(["ab", "b"], "a.*"), [True, False]),
        (lambda s: s.split("a b c"), [b"a", b"b", b"c"]),
    ],
)
def test_strings(call, expected):
    found = call(tf.strings).numpy()
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda s: s.as_string(c(5), precision=3), tf.errors.InvalidArgumentError),
        (lambda s: s.join([c(["a"]), c(["b", "c"])]), tf.errors.InvalidArgumentError),
        (lambda s: s.join([1, 2]), TypeError),
        (lambda s: s.format("{} {}", c(1)), ValueError),
        (lambda s: s.length("a", unit="metre"), tf.errors.InvalidArgumentError),
        (lambda s: s.substr("a", 5, 1), tf.errors.InvalidArgumentError),
        (lambda s: s.to_number("x"), tf.errors.InvalidArgumentError),
    ],
)
def test_strings_misused(call, error):
    with pytest.raises(error):
        call(tf.strings)


def test_initializers_with_a_seed_repeat():
    for make in (tf.random_normal_initializer, tf.random_uniform_initializer):
        once = make(seed=3)
        np.testing.assert_array_equal(once([3]), once([3]))
        assert not np.array_equal(make()([3]), make()([3]))
        assert make.from_config(once.get_config()).get_config() == once.get_config()
    np.testing.assert_array_equal(tf.constant_initializer([1, 2])([2]), [1, 2])


def test_timestamp():
    before = time.time()
    stamp = tf.timestamp()
    assert stamp.dtype == tf.float64
    assert stamp.shape == ()
    assert before <= float(stamp) <= time.time()
