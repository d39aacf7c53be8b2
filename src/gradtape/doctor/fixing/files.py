"""A source file byte by byte: its lines as Python reads them, and other ones in their place."""

from __future__ import annotations

import io
import re
import tokenize

from ..source import sources

# Python ends lines so; a form feed or U+2028 is none, as it would be to `str.splitlines`.
_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


class Refused(Exception):
    """A file or a line that is left alone, and why."""


class SourceFile:
    """A file as it is on the disk; a fault in its text is a refusal."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            with open(path, "rb") as opened:
                self.data = opened.read()
            self.encoding, _ = tokenize.detect_encoding(io.BytesIO(self.data).readline)
        except (OSError, SyntaxError) as error:
            raise Refused(f"it cannot be read ({error})") from None
        self.lines: list[bytes] = _LINES.findall(self.data)

    def text(self, number: int) -> str:
        """A line without its ending; a byte order mark is none of its characters."""
        return self._decode(self.lines[number - 1]).rstrip("\r\n")

    def ran(self) -> bool:
        """Is it what the program ran, to the last character?"""
        read = [line.rstrip("\r\n") for line in sources.lines(self.path)]
        try:
            return read == [self.text(k + 1) for k in range(len(self.lines))]
        except UnicodeDecodeError:
            return False

    def changed(self, lines: dict[int, str]) -> bytes:
        """The file with other text in some lines; all bytes beside it are as they were."""
        found = list(self.lines)
        for number, new in lines.items():
            old = found[number - 1]
            body = old.rstrip(b"\r\n")
            mark = body[:3] if body.startswith(b"\xef\xbb\xbf") else b""
            try:
                found[number - 1] = mark + new.encode(self._plain) + old[len(body) :]
            except UnicodeEncodeError as error:
                raise Refused(f"line {number} cannot be written in {self.encoding}") from error
        return b"".join(found)

    @property
    def _plain(self) -> str:
        return "utf-8" if self.encoding == "utf-8-sig" else self.encoding

    def _decode(self, line: bytes) -> str:
        return line.decode(self._plain).removeprefix("\ufeff")
