"""A headless Chromium, driven over a pipe by its DevTools protocol.

Only what Python and Debian have: no driver, no package. Everything that a page must
not do is written down as it happens: errors in the console, violations of the
content security policy, requests to other places.
"""

import base64
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio",
    "--disable-features=Translate,OptimizationHints,MediaRouter", "--force-color-profile=srgb",
    "--font-render-hinting=none", "--hide-scrollbars", "--lang=en-US", "--remote-debugging-pipe",
]
KEYS = {
    "Tab": (9, "Tab", None), "Enter": (13, "Enter", "\r"), " ": (32, "Space", " "), "ArrowRight": (39, "ArrowRight", None),
    "ArrowLeft": (37, "ArrowLeft", None), "ArrowDown": (40, "ArrowDown", None), "Escape": (27, "Escape", None),
}


class Chromium:
    """One browser."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="mizan-browser-")
        to_browser, to_us = os.pipe(), os.pipe()
        command = f"exec \"$0\" \"$@\" 3<&{to_browser[0]} 4>&{to_us[1]}"
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        self.process = subprocess.Popen(
            ["sh", "-c", command, program, *FLAGS, f"--user-data-dir={self.folder}", "about:blank"],
            pass_fds=(to_browser[0], to_us[1]), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(to_browser[0])
        os.close(to_us[1])
        self.out, self.source = os.fdopen(to_browser[1], "wb"), to_us[0]
        self.number, self.waiting, self.listeners = 0, {}, {}
        self.lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        rest = b""
        while chunk := os.read(self.source, 1 << 16):
            *whole, rest = (rest + chunk).split(b"\0")
            for message in map(json.loads, whole):
                if "id" in message:
                    self.waiting.pop(message["id"]).put(message)
                elif listener := self.listeners.get(message.get("sessionId")):
                    listener(message["method"], message["params"])

    def call(self, method, session=None, **parameters):
        """Calls a method of the browser and waits for its result."""
        answer = queue.Queue()
        with self.lock:
            self.number += 1
            self.waiting[self.number] = answer
            message = {"id": self.number, "method": method, "params": parameters}
            if session:
                message["sessionId"] = session
            self.out.write(json.dumps(message).encode() + b"\0")
            self.out.flush()
        found = answer.get(timeout=60)
        if "error" in found:
            raise RuntimeError(f"{method}: {found['error']}")
        return found["result"]

    def page(self, **options):
        """A page of its own, with its own cookies."""
        return Page(self, **options)

    def close(self):
        try:
            self.call("Browser.close")
        except (RuntimeError, OSError, queue.Empty):
            self.process.kill()
        self.process.wait(timeout=20)
        shutil.rmtree(self.folder, ignore_errors=True)


class Page:
    """One page, and its errors."""

    def __init__(self, browser, width=1280, height=900, scheme="light", language="en-US", script=True):
        self.browser = browser
        self.context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", browserContextId=self.context)
        self.target = target["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)
        self.session = attached["sessionId"]
        self.errors, self.requests, self.bytes, self.first_byte = [], [], {}, {}
        self.sent = {}
        browser.listeners[self.session] = self._heard
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
        self.resize(width, height)
        self.scheme(scheme)
        if not script:
            self.call("Emulation.setScriptExecutionDisabled", value=True)

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def _heard(self, method, found):
        if method == "Runtime.exceptionThrown":
            details = found["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and found["type"] in ("error", "assert"):
            self.errors.append(str(found["args"]))
        elif method == "Log.entryAdded" and found["entry"]["level"] == "error":
            entry = found["entry"]
            self.errors.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(found["request"]["url"])
            self.sent[found["requestId"]] = found["request"]["url"]
        elif method == "Network.responseReceived":
            timing = found["response"].get("timing")
            if timing:
                self.first_byte[found["response"]["url"]] = timing["receiveHeadersEnd"] - timing["sendEnd"]
        elif method == "Network.dataReceived":
            url = self.sent.get(found["requestId"])
            self.bytes[url] = self.bytes.get(url, 0) + found["dataLength"]

    def resize(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def go(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script):
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def wait(self, condition, seconds=20):
        """Waits until an expression is true; the page may change meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if value := self.run(condition):
                    return value
            except RuntimeError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"never true: {condition}\n{self.text()[:2000]}")

    def text(self, selector="body"):
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def fill(self, selector, value):
        """Puts a value into a field as if it were typed."""
        self.run(
            f"{{const e = document.querySelector({json.dumps(selector)}); e.focus(); e.value = {json.dumps(value)};"
            " e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true}));}"
        )

    def click(self, selector):
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def key(self, name, modifiers=0):
        code, code_name, text = KEYS[name]
        event = {"key": name, "code": code_name, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        down = {**event, "type": "keyDown", **({"text": text} if text and not modifiers else {})}
        self.call("Input.dispatchKeyEvent", **down)
        self.call("Input.dispatchKeyEvent", **{**event, "type": "keyUp"})

    def type(self, text):
        self.call("Input.insertText", text=text)

    def tab_to(self, condition, most=60):
        """Presses Tab until the focus is where a condition on `it` says."""
        for _ in range(most):
            self.key("Tab")
            if self.run(f"(it => Boolean({condition}))(document.activeElement)"):
                return
        raise AssertionError(f"no focus where {condition}")

    def picture(self, path, whole=True):
        # A smooth scroll must end first.
        time.sleep(0.6)
        self.run("scrollTo({top: 0, behavior: 'instant'})")
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        # Beyond the viewport Chromium shifts a right-to-left page that is not taller.
        whole = whole and size["height"] > self.run("innerHeight")
        options = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            options["clip"] = {"x": size["x"], "y": size["y"], "width": size["width"], "height": size["height"], "scale": 1}
        data = self.call("Page.captureScreenshot", **options)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.call("Page.close")
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)
