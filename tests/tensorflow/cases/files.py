"""Files, and strings that hold numbers."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from tests.tensorflow.harness import attempt, case, cases


def kind(given):
    return type(given).__name__ if isinstance(given, Exception) else given


# ------------------------------------------------------------------------------------ files


@case
def whole_files(tf):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/deep/file"
        tf.io.write_file(path, b"some\0bytes")
        tf.io.write_file(tf.constant(f"{folder}/deep/other"), tf.constant(""))
        found = tf.io.matching_files([f"{folder}/deep/f*", f"{folder}/deep/o*"]).numpy()
        missing = attempt(lambda: tf.io.read_file(f"{folder}/none"))
        return (
            tf.io.read_file(path), tf.io.read_file(f"{folder}/deep/other"),
            [Path(os.fsdecode(one)).name for one in found], kind(missing),
            tf.io.matching_files(f"{folder}/none*"),
            kind(attempt(lambda: tf.io.read_file([path, path]))),
        )  # fmt: skip


@case
def read_in_a_function(tf):
    with tempfile.TemporaryDirectory() as folder:
        read = tf.function(lambda path: tf.strings.length(tf.io.read_file(path)))
        answers = []
        for text in ("a", "bcd"):
            tf.io.write_file(f"{folder}/file", text)
            answers.append(read(tf.constant(f"{folder}/file")))
        return answers


def _gfile(tf, folder):
    gfile = tf.io.gfile
    gfile.makedirs(f"{folder}/a/b")
    gfile.makedirs(f"{folder}/a/b")
    gfile.mkdir(f"{folder}/c")
    with gfile.GFile(f"{folder}/a/file", "w") as file:
        file.write("one\ntwo\n")
        file.write("three")
    with gfile.GFile(f"{folder}/a/file", "a") as file:
        file.write(" four")
    gfile.copy(f"{folder}/a/file", f"{folder}/c/copy")
    gfile.rename(f"{folder}/c/copy", f"{folder}/c/moved")
    file = gfile.GFile(f"{folder}/a/file")
    said = [file.readline(), file.tell(), file.read(2), file.readlines(), file.size(), file.read()]
    file.seek(4)
    said += [file.read(), list(gfile.GFile(f"{folder}/a/file", "rb"))]
    stat = gfile.stat(f"{folder}/a/file")
    said += [
        stat.length,
        stat.is_directory,
        gfile.exists(f"{folder}/c"),
        gfile.isdir(f"{folder}/c"),
    ]
    said += [sorted(gfile.listdir(folder)), gfile.join("a", "b", "c")]
    said += [[os.path.relpath(one, folder) for one in sorted(gfile.glob(f"{folder}/*/*e*"))]]
    said += [sorted((os.path.relpath(t, folder), d, f) for t, d, f in gfile.walk(folder))]
    gfile.remove(f"{folder}/c/moved")
    gfile.rmtree(f"{folder}/a")
    return said, gfile.exists(f"{folder}/a"), gfile.listdir(f"{folder}/c")


@case
def gfile(tf):
    with tempfile.TemporaryDirectory() as folder:
        return _gfile(tf, folder)


@cases(
    given={
        "read": lambda tf, path: tf.io.gfile.GFile(f"{path}/none").read(),
        "read_written": lambda tf, path: tf.io.gfile.GFile(f"{path}/new", "w").read(),
        "write_read": lambda tf, path: tf.io.gfile.GFile(f"{path}/file").write("x"),
        "mode": lambda tf, path: tf.io.gfile.GFile(f"{path}/file", "x").read(),
        "remove": lambda tf, path: tf.io.gfile.remove(f"{path}/none"),
        "rmtree": lambda tf, path: tf.io.gfile.rmtree(f"{path}/none"),
        "listdir": lambda tf, path: tf.io.gfile.listdir(f"{path}/none"),
        "mkdir": lambda tf, path: tf.io.gfile.mkdir(f"{path}/none/inner"),
        "mkdir_again": lambda tf, path: tf.io.gfile.mkdir(path),
        "copy": lambda tf, path: tf.io.gfile.copy(f"{path}/none", f"{path}/new"),
        "copy_over": lambda tf, path: tf.io.gfile.copy(f"{path}/file", f"{path}/file"),
        "rename_over": lambda tf, path: tf.io.gfile.rename(f"{path}/file", f"{path}/file"),
        "stat": lambda tf, path: tf.io.gfile.stat(f"{path}/none"),
        "bytes": lambda tf, path: tf.io.gfile.GFile(f"{path}/file", "rb").read(),
        "path": lambda tf, path: tf.io.gfile.GFile(Path(path) / "file").read(),
        "exists_bytes": lambda tf, path: tf.io.gfile.exists(os.fsencode(path)),
        "seek_nowhere": lambda tf, path: tf.io.gfile.GFile(f"{path}/file").seek(),
    }
)
def gfile_errors(tf, given):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "file").write_text("text")
        return kind(attempt(lambda: given(tf, folder)))


# ------------------------------------------------------------------------------------ strings


@cases(
    given={
        "int16": lambda tf: tf.io.decode_raw(b"\1\0\2\0", tf.int16),
        "big": lambda tf: tf.io.decode_raw(b"\1\0\2\0", tf.int16, little_endian=False),
        "several": lambda tf: tf.io.decode_raw([["ab", "cd"]], tf.uint8),
        "float": lambda tf: tf.io.decode_raw(np.float32(2.5).tobytes(), tf.float32),
        "uneven": lambda tf: tf.io.decode_raw(["ab", "c"], tf.uint8),
        "part": lambda tf: tf.io.decode_raw("abc", tf.int16),
        "fixed": lambda tf: tf.io.decode_raw(["abcd", "e"], tf.uint8, fixed_length=2),
        "empty": lambda tf: tf.io.decode_raw("", tf.int32),
        "tensor": lambda tf: tf.io.parse_tensor(
            tf.io.serialize_tensor([[1.5, 2.0]]), tf.float32
        ),
        "tensor_bytes": lambda tf: tf.io.serialize_tensor(tf.constant([[1, 2]])),
        "tensor_text": lambda tf: tf.io.parse_tensor(
            tf.io.serialize_tensor(["a", "bc"]), tf.string
        ),
        "tensor_scalar": lambda tf: tf.io.parse_tensor(tf.io.serialize_tensor(True), tf.bool),
        "tensor_other": lambda tf: tf.io.parse_tensor(tf.io.serialize_tensor([1]), tf.float32),
        "tensor_garbage": lambda tf: tf.io.parse_tensor("garbage", tf.float32),
        "base64": lambda tf: tf.io.encode_base64([b"\xff\xfe a", "b", ""]),
        "base64_pad": lambda tf: tf.io.encode_base64("b", pad=True),
        "base64_back": lambda tf: tf.io.decode_base64(["__4gYQ", "Yg==", ""]),
        "base64_wrong": lambda tf: tf.io.decode_base64("a b"),
        "plain": lambda tf: tf.io.decode_compressed(["ab", "c"]),
        "zlib": lambda tf: tf.io.decode_compressed(
            b"x\x9cKL\x04\x02\x00\x05\xcc\x01\x85", compression_type="ZLIB"
        ),
        "no_such_packing": lambda tf: tf.io.decode_compressed("ab", compression_type="ZIP"),
    }
)  # fmt: skip
def strings(tf, given):
    return kind(attempt(lambda: given(tf)))


# ------------------------------------------------------------------------------------ sound


@case
def sounds_are_written_and_read(tf):
    loud = np.array([[0.0], [0.5], [-0.5], [1.5], [-2.0], [1e-5], [0.99999]], np.float32)
    two = tf.audio.encode_wav(np.linspace(-1, 1, 12).reshape(6, 2).astype(np.float32), 44100)
    return tf.audio.encode_wav(loud, 1000), two, tuple(tf.audio.decode_wav(two)), tuple(
        tf.function(tf.audio.decode_wav)(two)
    )  # fmt: skip


@cases(channels=[-1, 1, 3], samples=[-1, 3, 8])
def sounds_of_a_size(tf, channels, samples):
    data = tf.audio.encode_wav(np.linspace(-1, 1, 12).reshape(6, 2).astype(np.float32), 44100)
    return tf.audio.decode_wav(data, channels, samples).audio


@case
def what_is_no_sound(tf):
    good = tf.audio.encode_wav(tf.zeros([4, 1]), 8).numpy()
    eight = good[:34] + b"\x08" + good[35:]  # bits
    return [
        kind(attempt(lambda data=data: tf.audio.decode_wav(data)))
        for data in (b"abc", b"RIFF" + bytes(60), good[:-3], [good], eight)
    ] + [
        kind(attempt(lambda: tf.audio.encode_wav([1.0, 2.0], 8))),
        kind(attempt(lambda: tf.audio.encode_wav(tf.zeros([4, 1]), [8]))),
    ]  # fmt: skip
