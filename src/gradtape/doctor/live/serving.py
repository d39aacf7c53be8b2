"""The page over HTTP, to this machine alone: it follows the program while somebody looks.

One socket on 127.0.0.1, a path that nobody can guess, three things to get. The threads are not
`threading`'s, so that the program does not find them among its own; they sleep until somebody
asks, and make a page only then. A child process has neither the threads nor the socket.
"""

from __future__ import annotations

import _thread
import contextlib
import hmac
import secrets
import socket
import socketserver
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from threading import Lock
from time import monotonic, sleep
from typing import Any

from .pace import Pace

EVERY, SHARE = 2.0, 0.02  # a page for who looks: every so many seconds, and of all time
HOSTS = ("127.0.0.1", "localhost")  # another name that leads here is another site's trick
LOOKING = 8.0  # seconds since the last question after which nobody looks any more
SAFE = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Server:
    """Serves what `compose` makes; `news` is a number that grows when that would be another."""

    def __init__(self, compose: Callable[[], str], news: Callable[[], int]) -> None:
        self._compose, self._news = compose, news
        self._token = secrets.token_urlsafe(16)
        self._lock = Lock()
        self._page, self._made_of = "", -1
        self._version = self._fetched = 0
        self._seen = float("-inf")  # when somebody asked last
        self._pace = Pace(EVERY, SHARE)
        self.ended = self._closed = False
        self._http = _Listener(("127.0.0.1", 0), self._handler())
        _thread.start_new_thread(self._listen, ())

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/{self._token}/"

    def close(self) -> None:
        """Let go of the socket; in a child process, of the parent's."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._http.socket.close()

    def _listen(self) -> None:
        while not self._closed:
            with contextlib.suppress(OSError, ValueError):
                self._http.handle_request()

    # --- what is served ---------------------------------------------------------------------------
    def _current(self) -> str:
        """The page, made anew when there is something new and it is time."""
        with self._lock:
            news = self._news()
            old = self._made_of != news and self._pace.now
            if not self.ended and (old or not self._version):
                self._pace.begin()
                page = self._compose()
                self._pace.done()
                self._take(page, news)
            return self._page

    def _take(self, page: str, news: int) -> None:
        self._page, self._made_of = page, news
        self._version += 1

    def answer(self, what: str) -> tuple[str, str] | None:
        """The type and the text of one of the three things."""
        self._seen = monotonic()
        if what not in ("", "page", "version"):
            return None
        page = self._current()
        if what == "version":
            return "text/plain", f"{self._version} {'ended' if self.ended else 'running'}"
        self._fetched = self._version
        return "text/html", page

    # --- the end ----------------------------------------------------------------------------------
    def end(self, page: str) -> None:
        """The program has ended, and this is the last page."""
        with self._lock:
            self._take(page, self._news())
            self.ended = True

    def wait(self, seconds: float) -> None:
        """Until those who look have the last page, for so many seconds at most."""
        until = monotonic() + seconds
        while monotonic() < until and monotonic() - self._seen < LOOKING:
            if self._fetched == self._version:
                return
            sleep(0.05)

    def stay(self) -> None:
        """Until somebody interrupts."""
        while True:
            sleep(3600)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10  # of a connection that says nothing
            server_version, sys_version = "gradtape", ""

            def parse_request(self) -> bool:
                """Who does not know the token learns nothing, not even what may be asked."""
                if not super().parse_request():
                    return False
                host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host")
                if host not in HOSTS or not self._known():
                    self._send(404, "text/plain", "not found\n")
                elif self.command != "GET":
                    self._send(405, "text/plain", "only GET\n", Allow="GET")
                else:
                    return True
                return False

            def _known(self) -> bool:
                _, token, *_ = [*self.path.split("/", 2), ""]
                return hmac.compare_digest(token.encode(), server._token.encode())

            def do_GET(self) -> None:
                rest = self.path.partition("?")[0].split("/", 2)[2:]
                found = server.answer(rest[0]) if rest else None
                if found is None:
                    self._send(404, "text/plain", "not found\n")
                else:
                    self._send(200, *found)

            def _send(self, code: int, kind: str, text: str, **more: str) -> None:
                data = text.encode()
                self.send_response(code)
                for name, value in {**SAFE, **more}.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """The terminal is the program's."""

        return Handler


class _Listener(socketserver.TCPServer):
    """A thread for each connection, because browsers open some in which they say nothing."""

    def process_request(self, request: Any, address: Any) -> None:
        _thread.start_new_thread(self._in_thread, (request, address))

    def _in_thread(self, request: Any, address: Any) -> None:
        with contextlib.suppress(Exception):  # who asked went away
            self.finish_request(request, address)
        with contextlib.suppress(OSError):
            request.shutdown(socket.SHUT_WR)
        request.close()

    def handle_error(self, request: Any, address: Any) -> None:
        if sys.exc_info()[0] is not None:
            request.close()
