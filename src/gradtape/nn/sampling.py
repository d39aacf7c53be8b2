"""Losses over a sample of many classes, and the samplers that draw the classes.

The classes drawn for a seed are those that TensorFlow's kernels draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from ..arrays.gathering import embedding_lookup
from ..arrays.reshaping import concat, reshape
from ..core.apply import tensor
from ..framework import arguments, convert
from ..linalg.products import matmul
from ..math.elementwise import log
from ..math.reductions import reduce_sum
from ..ops import shape as shape_ops
from ..random import _seeds
from .losses import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits

_INT64 = np.dtype(np.int64)
_LONG = 2**64


class _Words:
    """Words of a stream, one after the other, and the numbers that TensorFlow makes of them."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.block: Any = iter(())

    def word(self) -> int:
        for word in self.block:
            return int(word)
        self.block = iter(self.stream.reserve(8).words(32).tolist())
        return self.word()

    def long(self) -> int:
        low = self.word()
        return low | self.word() << 32

    def below(self, n: int, draw: Callable[[], int], size: int) -> int:
        """A number below n, each equally likely."""
        if not n & (n - 1):
            return draw() & (n - 1)
        rest = (size - 1) % n + 1
        while (drawn := draw()) < rest:
            pass
        return drawn % n

    def double(self) -> float:
        high = self.word() & 0xFFFFF
        return (high << 32 | self.word()) * 2.0**-52

    def single(self) -> float:
        return (self.word() & 0x7FFFFF) * 2.0**-23


# --- distributions: (draw a class, the probabilities of classes) ----------------------------------
def _uniform(count: int) -> tuple[Any, Any]:
    def draw(words: _Words) -> int:
        return words.below(count, words.long, _LONG)

    return draw, lambda ids: np.full(ids.shape, 1.0 / count)


def _log_uniform(count: int) -> tuple[Any, Any]:
    scale = math.log1p(count)

    def draw(words: _Words) -> int:
        return (int(math.exp(words.double() * scale)) - 1) % count

    return draw, lambda ids: np.log((ids + 2.0) / (ids + 1.0)) / scale


def _weighted(weights: np.ndarray) -> tuple[Any, Any]:
    """By counts that change from call to call."""
    ends = np.cumsum(weights)
    total = int(ends[-1])

    def draw(words: _Words) -> int:
        place = words.below(total, words.word, 2**32)
        return int(np.searchsorted(ends, place, side="right"))

    return draw, lambda ids: weights[ids] / total


def _by_alias(weights: np.ndarray) -> tuple[Any, Any]:
    """By fixed weights: an even choice of a bucket, then of the bucket's two classes (Walker)."""
    count, total = len(weights), np.float32(0)
    for w in weights:
        total = total + w
    chances = (weights * np.float32(count) / total).astype(np.float64)
    other = [-1] * count
    low = [k for k in range(count) if chances[k] < 1]
    high = [k for k in range(count) if chances[k] >= 1]
    while low and high:
        short, long = low.pop(), high.pop()
        other[short] = long
        chances[long] -= 1 - chances[short]
        (low if chances[long] < 1 else high).append(long)
    chances[[*low, *high]] = 1

    def draw(words: _Words) -> int:
        part = words.single()
        bucket = words.below(count, words.word, 2**32)
        return bucket if part < np.float32(chances[bucket]) else other[bucket]

    return draw, lambda ids: weights[ids] / total


# --- samplers -------------------------------------------------------------------------------------
def _sampled(
    kind: str, classes: Any, num_true: int, count: int, unique: bool, most: int, made: Any,
    stream: Any,
) -> tuple:  # fmt: skip
    """The classes drawn, and how often true and drawn ones are expected among the drawn."""
    label = f"{kind}CandidateSampler"
    true = _true_classes(classes, num_true, label)
    if unique and count > most:
        raise errors.invalid(
            f"Sampler's range is too small: {count} different classes out of {most} "
            f"[Op:{label}] name: "
        )
    draw, probability = made
    words, tries = _Words(stream.reserve(512 * count)), 0
    drawn: list[int] = []
    seen: set[int] = set()
    while len(drawn) < count:
        tries += 1
        value = draw(words)
        if not unique or value not in seen:
            seen.add(value)
            drawn.append(value)
    ids = np.array(drawn, np.int64)

    def expected(ids: Any) -> Any:
        p = probability(ids).astype(np.float32)
        return tensor(p * np.float32(count) if tries == count else -np.expm1(tries * np.log1p(-p)))

    return tensor(ids), expected(true), expected(ids)


def _attributes(
    classes: Any, num_true: Any, num_sampled: Any, unique: Any, range_max: Any = 1
) -> tuple[int, int, bool, int]:
    """What is no tensor, which TensorFlow looks at first: three numbers and a truth value."""
    found = (
        arguments.integer(num_true, "num_true"),
        arguments.integer(num_sampled, "num_sampled"),
        arguments.truth(unique, "unique"),
        arguments.integer(range_max, "range_max"),
    )
    _converted(classes, num_true, num_sampled, range_max)
    return found


def _some(range_max: int, label: str) -> None:
    if range_max < 1:
        raise errors.invalid(
            f"Value for attr 'range_max' of {range_max} must be at least minimum 1 [Op:{label}]"
        )


def _converted(classes: Any, *numbers: Any) -> None:
    """With a number that is not Python's own TensorFlow's op converts its input itself."""
    if any(n.__class__ is not int for n in numbers):
        convert.to_tensor(classes, _INT64)


def _true_classes(classes: Any, num_true: int, label: str) -> Any:
    plain = not convert.is_tensor_like(classes)
    true = convert.to_tensor(classes, _INT64 if plain else None)._value
    if true.dtype != _INT64:
        raise errors.wrong_dtype(
            f"cannot compute {label} as input #0(zero-based) was expected to be a int64 tensor but "
            f"is a {convert.c_name(true.dtype)} tensor [Op:{label}] name: "
        )
    if true.ndim != 2:
        raise errors.invalid(f"true_classes must be a matrix [Op:{label}] name: ")
    if true.shape[1] != num_true:
        raise errors.invalid(
            f"true_classes must have num_true columns, expected: {true.shape[1]} was: {num_true} "
            f"[Op:{label}] name: "
        )
    return true


class UniformCandidateSampler(NamedTuple):
    """Sampled classes, and how often the true and the sampled ones are expected among them."""

    sampled_candidates: Any
    true_expected_count: Any
    sampled_expected_count: Any


class LogUniformCandidateSampler(UniformCandidateSampler):
    """The same of the log-uniform sampler."""


class LearnedUnigramCandidateSampler(UniformCandidateSampler):
    """The same of the sampler that learns."""


class FixedUnigramCandidateSampler(UniformCandidateSampler):
    """The same of the sampler with fixed weights."""


class AllCandidateSampler(UniformCandidateSampler):
    """The same of the sampler that takes all."""


class ComputeAccidentalHits(NamedTuple):
    """Rows whose true class was sampled, where in the sample, and what hides it in logits."""

    indices: Any
    ids: Any
    weights: Any


def uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
    seed: Any = None, name: str | None = None,
) -> UniformCandidateSampler:  # fmt: skip
    """Classes below `range_max`, all equally likely."""
    given = _attributes(true_classes, num_true, num_sampled, unique, range_max)
    stream = _seeds.kernel(seed, "UniformCandidateSampler", *given)
    parts = _sampled("Uniform", true_classes, *given, _uniform(given[3]), stream)
    return UniformCandidateSampler(*parts)


def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
    seed: Any = None, name: str | None = None,
) -> LogUniformCandidateSampler:  # fmt: skip
    """Classes below `range_max`, of which class k comes like a word of rank k in a text.

    >>> import gradtape as tf
    >>> tf.random.set_seed(0)
    >>> sample = tf.random.log_uniform_candidate_sampler([[1]], 1, 4, True, 10, seed=3)
    >>> sample.sampled_candidates
    <tf.Tensor: shape=(4,), dtype=int64, numpy=array([2, 8, 4, 7])>
    """
    given = _attributes(true_classes, num_true, num_sampled, unique, range_max)
    _some(given[3], "LogUniformCandidateSampler")
    stream = _seeds.kernel(seed, "LogUniformCandidateSampler", *given)
    parts = _sampled("LogUniform", true_classes, *given, _log_uniform(given[3]), stream)
    return LogUniformCandidateSampler(*parts)


def learned_unigram_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
    seed: Any = None, name: str | None = None,
) -> LearnedUnigramCandidateSampler:  # fmt: skip
    """Classes below `range_max`, as often as they were true in equal calls before."""
    label = "LearnedUnigramCandidateSampler"
    given = _attributes(true_classes, num_true, num_sampled, unique, range_max)
    _some(given[3], label)
    stream = _seeds.kernel(seed, label, *given)
    key: tuple = (label, "weights", *given, seed)
    counts: Any = _seeds.kernels.get(key)
    if counts is None or (seed is None and _seeds.seed is not None):
        counts = np.ones(given[3], np.int64)
    parts = _sampled("LearnedUnigram", true_classes, *given, _weighted(counts), stream)
    learned = np.array(counts)
    np.add.at(learned, np.asarray(convert.to_tensor(true_classes)._value).reshape(-1), 1)
    _seeds.kernels[key] = learned  # type: ignore[assignment]
    return LearnedUnigramCandidateSampler(*parts)


def fixed_unigram_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
    vocab_file: str = "", distortion: float = 1.0, num_reserved_ids: int = 0, num_shards: int = 1,
    shard: int = 0, unigrams: Any = (), seed: Any = None, name: str | None = None,
) -> FixedUnigramCandidateSampler:  # fmt: skip
    """Classes below `range_max` by their weights to the power `distortion`."""
    label = "FixedUnigramCandidateSampler"
    if bool(vocab_file) == bool(len(unigrams)):
        raise errors.invalid(
            f"Must provide either vocab_file or unigrams, one of them [Op:{label}] name: "
        )
    if vocab_file:
        with open(vocab_file) as lines:
            unigrams = [float(line.rsplit(",", 1)[-1]) for line in lines if line.strip()]
    powers = np.power(np.asarray(unigrams, np.float32), np.float32(distortion))
    weights = np.concatenate([np.zeros(num_reserved_ids, np.float32), powers])[shard::num_shards]
    if len(weights) != range_max:
        raise errors.invalid(
            f"range is {range_max} must be equal to weights size  {len(weights)} "
            f"[Op:{label}] name: "
        )
    given = _attributes(true_classes, num_true, num_sampled, unique, range_max)
    more = (distortion, num_reserved_ids, num_shards, shard, tuple(unigrams))
    stream = _seeds.kernel(seed, label, *given, *more)
    parts = _sampled("FixedUnigram", true_classes, *given, _by_alias(weights), stream)
    return FixedUnigramCandidateSampler(*parts)


def all_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, seed: Any = None,
    name: str | None = None,
) -> AllCandidateSampler:  # fmt: skip
    """All classes below `num_sampled`, each once."""
    num_true, num_sampled, unique, _ = _attributes(true_classes, num_true, num_sampled, unique)
    true = _true_classes(true_classes, num_true, "AllCandidateSampler")
    sizes = true.shape, (num_sampled,)
    ones = [tensor(np.ones(size, np.float32)) for size in sizes]
    return AllCandidateSampler(tensor(np.arange(num_sampled, dtype=np.int64)), *ones)


def compute_accidental_hits(
    true_classes: Any, sampled_candidates: Any, num_true: int, seed: Any = None,
    name: str | None = None,
) -> ComputeAccidentalHits:  # fmt: skip
    """Where a row's true class is among the sampled ones: (rows, places in the sample, -max)."""
    count = arguments.integer(num_true, "num_true")
    _converted(true_classes, num_true)
    num_true = count
    true = _true_classes(true_classes, num_true, "ComputeAccidentalHits")
    sampled = convert.to_tensor(sampled_candidates, _INT64)._value
    hit = true.reshape(-1, 1) == sampled
    flat = np.flatnonzero(hit.any(axis=1))
    # Of equal candidates the last, as in TensorFlow.
    places = hit.shape[1] - 1 - np.argmax(hit[flat, ::-1], axis=1) if len(flat) else flat
    weights = np.full(len(flat), np.finfo(np.float32).min, np.float32)
    rows = (flat // max(num_true, 1)).astype(np.int32)
    return ComputeAccidentalHits(tensor(rows), tensor(places.astype(np.int64)), tensor(weights))


# --- losses ---------------------------------------------------------------------------------------
def nce_loss(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
    num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = False,
    name: str = "nce_loss",
) -> Any:  # fmt: skip
    """The noise-contrastive loss of each row: true classes against sampled ones, one by one."""
    logits, targets = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, None,
    )  # fmt: skip
    return reduce_sum(sigmoid_cross_entropy_with_logits(targets, logits), 1)


def sampled_softmax_loss(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
    num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = True,
    seed: Any = None, name: str = "sampled_softmax_loss",
) -> Any:  # fmt: skip
    """The softmax cross entropy of each row over its true classes and the sampled ones."""
    logits, targets = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, seed,
    )  # fmt: skip
    return softmax_cross_entropy_with_logits(targets, logits)


def _sampled_logits(
    weights: Any, biases: Any, labels: Any, inputs: Any, count: int, classes: int, num_true: int,
    sampled: Any, hide: bool, seed: Any,
) -> tuple:  # fmt: skip
    """Logits of the true classes and of the sampled ones, less those that chance gives, and the
    labels that go with them."""
    if sampled is None:
        arguments.integer(classes, "range_max")
    x = convert.to_tensor(inputs)
    true = convert.to_tensor(labels)._value.astype(np.int64)
    if sampled is None:
        sampled = log_uniform_candidate_sampler(true, num_true, count, True, classes, seed=seed)
    drawn, true_count, drawn_count = (tensor(convert.to_tensor(s)._value) for s in sampled)
    drawn = tensor(drawn._value.astype(np.int64))
    ids = tensor(np.concatenate([true.reshape(-1), drawn._value]))
    w, b = (_like(embedding_lookup(table, ids), x) for table in (weights, biases))
    size = true.size
    true_w = reshape(w[:size], (-1, num_true, w._value.shape[-1]))
    true_logits = reduce_sum(x[:, None] * true_w, 2) + reshape(b[:size], (-1, num_true))
    drawn_logits = matmul(x, w[size:], transpose_b=True) + b[size:]
    if hide:
        hits = compute_accidental_hits(true, drawn, num_true)
        low = np.zeros(drawn_logits._value.shape, x._value.dtype)
        low[hits.indices._value, hits.ids._value] = hits.weights._value[:1].sum()
        drawn_logits = drawn_logits + tensor(low)
    true_logits = true_logits - log(true_count)
    drawn_logits = drawn_logits - log(drawn_count)
    logits = concat([true_logits, drawn_logits], 1)
    targets = np.zeros(logits._value.shape, logits._value.dtype)
    targets[:, :num_true] = 1 / num_true
    return logits, tensor(targets)


def _like(rows: Any, x: Any) -> Any:
    dtype = x._value.dtype
    return rows if rows._value.dtype == dtype else shape_ops.cast.apply(rows, dtype=dtype)
