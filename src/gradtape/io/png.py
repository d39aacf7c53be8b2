"""PNG files, written."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np


def png(pixels: Any, level: int = -1) -> bytes:
    """An image [height, width, 1 to 4 channels] of uint8 or uint16 as a PNG file."""
    height, width, channels = pixels.shape
    depth = pixels.dtype.itemsize
    rows = np.ascontiguousarray(pixels.astype(f">u{depth}")).view(np.uint8).reshape(height, -1)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), rows], 1)  # 0: as they are
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    head = struct.pack(">IIBBBBB", width, height, 8 * depth, kind, 0, 0, 0)
    chunks = (b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), level)), (b"IEND", b"")
    packed = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)
