"""A Chromium without a window, driven over a pipe by its DevTools protocol. Python's own library is enough."""

import base64
import collections
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import threading

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ANSWER_S = 200


def find_chromium():
    """Path of the program, or None. LATEBIND_CHROMIUM names another one."""
    named = os.environ.get("LATEBIND_CHROMIUM")
    return named or next((found for found in map(shutil.which, NAMES) if found), None)


class Browser:
    """The process. Its pages are used by one thread."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_child, self.to_browser = os.pipe()
        self.from_browser, from_child = os.pipe()
        # Above those that dup2() below overwrites.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 100) for end in (to_child, from_child)]

        def take_pipes():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        command = [program, "--headless", "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}"]
        command += ["--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
        # The sandbox cannot be had by root; every page here is our own.
        command += ["--no-sandbox", "--hide-scrollbars", "--force-color-profile=srgb", "about:blank"]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(3, 4),
            preexec_fn=take_pipes,
            env={**os.environ, "HOME": self.folder.name},
        )
        for end in (to_child, from_child, *ends):
            os.close(end)
        self.changed = threading.Condition()
        self.number = 0
        self.answers = {}
        self.sessions = collections.defaultdict(list)
        self.is_gone = False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        rest = b""
        while part := os.read(self.from_browser, 1 << 16):
            *messages, rest = (rest + part).split(b"\0")
            with self.changed:
                for message in map(json.loads, messages):
                    if "id" in message:
                        self.answers[message["id"]] = message
                    else:
                        self.sessions[message.get("sessionId")].append(message)
                self.changed.notify_all()
        with self.changed:
            self.is_gone = True
            self.changed.notify_all()

    def call(self, method, session=None, **parameters):
        with self.changed:
            self.number += 1
            number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data) :]
        with self.changed:
            if not self.changed.wait_for(lambda: number in self.answers or self.is_gone, ANSWER_S):
                raise AssertionError(f"Chromium does not answer {method}")
            if number not in self.answers:
                raise AssertionError(f"Chromium ended during {method}, with {self.process.poll()}")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def page(self, **options):
        return Page(self, **options)

    def close(self):
        try:
            self.call("Browser.close")
        except (AssertionError, OSError):
            self.process.kill()
        self.process.wait(ANSWER_S)
        self.reader.join(ANSWER_S)
        for end in (self.to_browser, self.from_browser):
            os.close(end)
        self.folder.cleanup()


class Page:
    """A tab with storage of its own, of which everything is recorded."""

    def __init__(self, browser, width=1280, height=900, scheme="light", scripts=True, before=""):
        self.browser = browser
        self.context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.call("Emulation.setEmulatedMedia", features=features)
        if not scripts:
            self.call("Emulation.setScriptExecutionDisabled", value=True)
        if before:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=before)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def resize(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def events(self, method):
        with self.browser.changed:
            return [event["params"] for event in self.browser.sessions[self.session] if event["method"] == method]

    def open(self, url):
        seen = len(self.events("Page.loadEventFired"))
        answer = self.call("Page.navigate", url=url)
        assert "errorText" not in answer, answer
        with self.browser.changed:
            loaded = self.browser.changed.wait_for(lambda: len(self._events("Page.loadEventFired")) > seen, ANSWER_S)
        assert loaded, f"{url} was not loaded"

    def _events(self, method):
        return [event for event in self.browser.sessions[self.session] if event["method"] == method]

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, condition, seconds=20):
        """Waits for a condition of JavaScript to hold."""
        holds = self.evaluate(
            f"""new Promise((done) => {{
                  const end = Date.now() + {seconds * 1000};
                  const look = () => {{
                    const holds = Boolean({condition});
                    holds || Date.now() > end ? done(holds) : setTimeout(look, 20);
                  }};
                  look();
                }})"""
        )
        assert holds, f"did not come true in {seconds} s: {condition}"

    def text(self, selector="body"):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def complaints(self):
        """What a developer would see in red, or in yellow."""
        thrown = [str(event["exceptionDetails"]) for event in self.events("Runtime.exceptionThrown")]
        printed = [
            str(event["args"])
            for event in self.events("Runtime.consoleAPICalled")
            if event["type"] in ("error", "warning", "assert")
        ]
        entries = [event["entry"] for event in self.events("Log.entryAdded")]
        return thrown + printed + [str(entry) for entry in entries if entry["level"] in ("error", "warning")]

    def requests(self):
        return [event["request"]["url"] for event in self.events("Network.requestWillBeSent")]

    def key(self, name, code):
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if name == "Enter" and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, **text)

    def picture(self, file, whole=True):
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        file.write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)
