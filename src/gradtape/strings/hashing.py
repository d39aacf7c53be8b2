"""Fingerprints of bytes: FarmHash, MurmurHash and SipHash, of 64 bits, as TensorFlow takes them.

Published by Google (Geoff Pike), Austin Appleby, and Aumasson and Bernstein.
"""

from __future__ import annotations

LONG = 2**64 - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _word(s: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(s[at : at + size], "little")


def _right(x: int, n: int) -> int:
    return (x >> n | x << (64 - n)) & LONG


def _mix(x: int) -> int:
    return x ^ x >> 47


def _two(u: int, v: int, by: int) -> int:
    a = _mix((u ^ v) * by & LONG)
    b = _mix((v ^ a) * by & LONG)
    return b * by & LONG


# --- FarmHash -------------------------------------------------------------------------------------
def farm(s: bytes) -> int:
    """FarmHash's Fingerprint64."""
    n = len(s)
    if n <= 16:
        return _farm_16(s, n)
    by = _K2 + n * 2
    if n <= 32:
        a, b = _word(s, 0) * _K1 & LONG, _word(s, 8)
        c, d = _word(s, n - 8) * by & LONG, _word(s, n - 16) * _K2 & LONG
        first = _right(a + b & LONG, 43) + _right(c, 30) + d
        return _two(first & LONG, a + _right(b + _K2 & LONG, 18) + c & LONG, by)
    return _farm_64(s, n, by) if n <= 64 else _farm_long(s, n)


def _farm_16(s: bytes, n: int) -> int:
    by = _K2 + n * 2
    if n >= 8:
        a, b = _word(s, 0) + _K2 & LONG, _word(s, n - 8)
        c, d = _right(b, 37) * by + a & LONG, (_right(a, 25) + b) * by & LONG
        return _two(c, d, by)
    if n >= 4:
        return _two(n + (_word(s, 0, 4) << 3), _word(s, n - 4, 4), by)
    if n:
        y, z = s[0] + (s[n >> 1] << 8), n + (s[n - 1] << 2)
        return _mix((y * _K2 ^ z * _K0) & LONG) * _K2 & LONG
    return _K2


def _farm_64(s: bytes, n: int, by: int) -> int:
    a, b = _word(s, 0) * _K2 & LONG, _word(s, 8)
    c, d = _word(s, n - 8) * by & LONG, _word(s, n - 16) * _K2 & LONG
    y = _right(a + b & LONG, 43) + _right(c, 30) + d & LONG
    z = _two(y, a + _right(b + _K2 & LONG, 18) + c & LONG, by)
    e, f = _word(s, 16) * by & LONG, _word(s, 24)
    g, h = (y + _word(s, n - 32)) * by & LONG, (z + _word(s, n - 24)) * by & LONG
    first = _right(e + f & LONG, 43) + _right(g, 30) + h
    return _two(first & LONG, e + _right(f + a & LONG, 18) + g & LONG, by)


def _weak(s: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = (_word(s, at + k) for k in (0, 8, 16, 24))
    a += w
    b = _right(b + a + z & LONG, 21)
    c = a
    a += x + y
    b += _right(a & LONG, 44)
    return a + z & LONG, b + c & LONG


def _farm_long(s: bytes, n: int) -> int:
    x, y = 81, 81 * _K1 + 113 & LONG
    z = _mix(y * _K2 + 113 & LONG) * _K2 & LONG
    v, w = (0, 0), (0, 0)
    x = x * _K2 + _word(s, 0) & LONG
    end = (n - 1) // 64 * 64
    for at in range(0, end, 64):
        x, y, z, v, w = _farm_block(s, at, x, y, z, v, w, _K1, 1)
    by = _K1 + ((z & 0xFF) << 1)
    at = end + (n - 1 & 63) - 63
    w = w[0] + (n - 1 & 63) & LONG, w[1]
    v = v[0] + w[0] & LONG, v[1]
    w = w[0] + v[0] & LONG, w[1]
    x, y, z, v, w = _farm_block(s, at, x, y, z, v, w, by, 9)
    first = _two(v[0], w[0], by) + _mix(y) * _K0 + z
    return _two(first & LONG, _two(v[1], w[1], by) + x & LONG, by)


def _farm_block(
    s: bytes, at: int, x: int, y: int, z: int, v: tuple[int, int], w: tuple[int, int], by: int,
    more: int,
) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:  # fmt: skip
    x = _right(x + y + v[0] + _word(s, at + 8) & LONG, 37) * by & LONG
    y = _right(y + v[1] + _word(s, at + 48) & LONG, 42) * by & LONG
    x ^= w[1] * more & LONG
    y = y + v[0] * more + _word(s, at + 40) & LONG
    z = _right(z + w[0] & LONG, 33) * by & LONG
    v = _weak(s, at, v[1] * by & LONG, x + w[0] & LONG)
    w = _weak(s, at + 32, z + w[1] & LONG, y + _word(s, at + 16) & LONG)
    return z, y, x, v, w


# --- the others -----------------------------------------------------------------------------------
def murmur(s: bytes) -> int:
    """MurmurHash64A with TensorFlow's seed."""
    by, n = 0xC6A4A7935BD1E995, len(s)
    h = 0xDECAFCAFFE ^ n * by & LONG
    for at in range(0, n - 7, 8):
        k = _mix(_word(s, at) * by & LONG) * by & LONG
        h = (h ^ k) * by & LONG
    if n % 8:
        h = (h ^ _word(s, n // 8 * 8)) * by & LONG
    return _mix(_mix(h) * by & LONG)


def sip(s: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4."""
    first, second = (k & LONG for k in key)
    v = [
        first ^ 0x736F6D6570736575, second ^ 0x646F72616E646F6D,
        first ^ 0x6C7967656E657261, second ^ 0x7465646279746573,
    ]  # fmt: skip
    padded = s + bytes(7 - len(s) % 8) + bytes([len(s) % 256])
    for at in range(0, len(padded), 8):
        m = _word(padded, at)
        v[3] ^= m
        _sip_rounds(v, 2)
        v[0] ^= m
    v[2] ^= 0xFF
    _sip_rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _sip_rounds(v: list[int], count: int) -> None:
    a, b, c, d = v
    for _ in range(count):
        a, c = a + b & LONG, c + d & LONG
        b, d = _right(b, 51) ^ a, _right(d, 48) ^ c
        a = _right(a, 32)
        c, a = c + b & LONG, a + d & LONG
        b, d = _right(b, 47) ^ c, _right(d, 43) ^ a
        c = _right(c, 32)
    v[:] = a, b, c, d
