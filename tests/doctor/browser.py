"""A headless Chromium for the tests, spoken to over its own pipe: no driver, no package.

Chromium's `--remote-debugging-pipe` takes JSON messages, each ended by a zero byte, on file
descriptor 3 and answers on 4.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Any

NAMES = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome",
    "google-chrome-stable", "chrome",
)  # fmt: skip
INSTALL = (
    "no Chromium was found; install one (Debian: apt-get install chromium-headless-shell) or have "
    f"one of {', '.join(NAMES)} on the PATH"
)
PATIENCE = 60.0  # seconds until an answer
CODES = {
    "Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
    "ArrowDown": 40, "/": 191, "?": 191,
}  # fmt: skip
# Puts the ends of the pipes where the browser looks for them, and becomes the browser.
_START = """
import fcntl, os, sys
give, take = (fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3])
os.dup2(give, 3)
os.dup2(take, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find() -> str | None:
    """The program, if there is one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """A browser with one page. `errors` is what it complained about."""

    def __init__(self, program: str, width: int = 1280, height: int = 900) -> None:
        self.errors: list[str] = []
        self.asked: list[str] = []  # addresses that the page asked for
        self._numbers, self._buffer, self._session = count(1), b"", ""
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        give, self._out = os.pipe()
        self._in, take = os.pipe()
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--remote-debugging-pipe", f"--user-data-dir={self._home.name}",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(give), str(take), program, *options],
            pass_fds=(give, take), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(give)
        os.close(take)
        try:
            self._attach(width, height)
        except BaseException:
            self.close()
            raise

    def _attach(self, width: int, height: int) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)
        os.close(self._out)
        os.close(self._in)
        self._home.cleanup()

    # --- what a person does -----------------------------------------------------------------------
    def open(self, page: Path | str) -> None:
        """Load a page, a file or an address, and wait until it is there."""
        self.errors.clear()
        self.asked.clear()
        address = page.as_uri() if isinstance(page, Path) else page
        self.call("Page.navigate", url=address)
        protocol = address.partition("//")[0]
        self.until(f"document.readyState + location.protocol === 'complete{protocol}'")

    def until(self, condition: str) -> None:
        """Wait until something holds on the page."""
        for _ in range(int(PATIENCE / 0.02)):
            if self.run(condition):
                return
            time.sleep(0.02)
        raise AssertionError(f"in vain: {condition}")

    def click(self, selector: str) -> None:
        x, y = self._middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
            )  # fmt: skip

    def hover(self, selector: str, across: float = 0.5, down: float = 0.5) -> None:
        """Point at an element, at a share of its width and height."""
        x, y = self._middle(selector, across, down)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def drag(self, selector: str, start: float, end: float) -> None:
        """Press at a share of the width of an element, move, and let go at another."""
        for kind, across, buttons in (
            ("mousePressed", start, 1), ("mouseMoved", (start + end) / 2, 1),
            ("mouseMoved", end, 1), ("mouseReleased", end, 0),
        ):  # fmt: skip
            x, y = self._middle(selector, across)
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons,
                clickCount=1,
            )  # fmt: skip

    def press(self, key: str) -> None:
        """Press a key, such as "Tab", "Enter", "Escape", "ArrowDown" or "n"."""
        code = CODES.get(key) or ord(key.upper())
        written = {} if key in CODES else {"text": key}
        for kind in ("keyDown" if written else "rawKeyDown", "keyUp"):
            text = written if kind == "keyDown" else {}
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **text
            )

    def write(self, text: str) -> None:
        """Write into what has the focus."""
        self.call("Input.insertText", text=text)

    # --- how it is looked at ----------------------------------------------------------------------
    def resize(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=False,
        )  # fmt: skip

    def scheme(self, name: str) -> None:
        """ "light" or "dark"."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def screenshot(self, file: Path, whole: bool = False) -> None:
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, file: Path) -> None:
        printed = self.call("Page.printToPDF", printBackground=True)
        file.write_bytes(base64.b64decode(printed["data"]))

    def run(self, script: str) -> Any:
        """The value of an expression on the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    # --- the pipe ---------------------------------------------------------------------------------
    def call(self, method: str, **params: Any) -> Any:
        """One question and its answer; what happens meanwhile is noted."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._hear()
            if heard.get("id") == number:
                assert "error" not in heard, heard["error"]
                return heard["result"]
            self._note(heard)

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], PATIENCE)
            assert ready, "the browser does not answer"
            piece = os.read(self._in, 1 << 16)
            assert piece, "the browser has ended"
            self._buffer += piece
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def _note(self, heard: dict[str, Any]) -> None:
        method, params = heard.get("method"), heard.get("params", {})
        if method == "Runtime.exceptionThrown":
            thrown = params["exceptionDetails"]
            self.errors.append(thrown.get("exception", {}).get("description", thrown["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.errors.append(f"a dialog opened: {params['message']}")
        elif method == "Network.requestWillBeSent":
            self.asked.append(params["request"]["url"])

    def _middle(self, selector: str, across: float = 0.5, down: float = 0.5) -> tuple[float, float]:
        """The middle of an element, or another point of it, scrolled into view."""
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'nearest'}); const r = e.getClientRects()[0];"
            f" return [r.left + r.width * {across}, r.top + r.height * {down}] }})()"
        )
        return x, y
