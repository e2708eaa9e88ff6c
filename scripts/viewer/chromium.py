"""A page in headless Chromium, driven by its DevTools protocol over a pipe (--remote-debugging-pipe): each message is
JSON, ended by a zero byte, on descriptors 3 (to Chromium) and 4 (from it). Nothing but this machine is reached."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
           "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--hide-scrollbars")


class ChromiumError(Exception):
    pass


def find_chromium():
    """The path of Chromium (TRACETOOL_CHROMIUM, or the first on the PATH), or None."""
    named = os.environ.get("TRACETOOL_CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


class Page:
    """with Page(url, width, height) as page: one page, its Chromium and its profile, all gone at the end. Calls that get
    no answer in `patience_s` seconds raise ChromiumError. `watched`: from its first byte on, what it says (`events`)."""

    def __init__(self, url, width=1600, height=900, patience_s=240, watched=(), before=()):
        """`watched`: domains of the protocol; `before`: calls (method, parameters) before it opens the url."""
        self.patience_s, self.next_id, self.unread, self.session, self.events = patience_s, 0, b"", None, []
        self.profile = tempfile.mkdtemp(prefix="tracetool-chromium-")
        self.start([*OPTIONS, f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "about:blank"])
        target = self.call("Target.createTarget", url="about:blank" if watched or before else url)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        for domain in watched:
            self.call(f"{domain}.enable")
        for method, parameters in before:
            self.call(method, **parameters)
        if watched or before:
            self.call("Page.navigate", url=url)

    def start(self, options):
        from_us, self.to_it = os.pipe()
        self.from_it, to_us = os.pipe()

        def as_3_and_4():
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 100) for end in (from_us, to_us)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen([find_chromium(), *options], preexec_fn=as_3_and_4, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to_it)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.from_it)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self):
        while b"\0" not in self.unread:
            ready = select.select([self.from_it], [], [], self.patience_s)[0]
            data = os.read(self.from_it, 1 << 20) if ready else b""
            if not data:
                raise ChromiumError("it ended" if ready else f"no answer for {self.patience_s} s")
            self.unread += data
        text, _, self.unread = self.unread.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_it, json.dumps(message).encode() + b"\0")
        answer = self.message()
        while answer.get("id") != self.next_id:
            self.events.append(answer)
            answer = self.message()
        if "error" in answer:
            raise ChromiumError(f"{method}: {answer['error']}")
        return answer["result"]

    def js(self, expression):
        """The value of a JavaScript expression; a promise is waited for."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise ChromiumError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait_for(self, expression):
        """Until the expression is true."""
        end = time.monotonic() + self.patience_s
        while not self.js(expression):
            if time.monotonic() > end:
                raise ChromiumError(f"not true after {self.patience_s} s: {expression}")
            time.sleep(0.2)

    def said(self, method):
        """The parameters of each event of this name so far."""
        self.js("1")
        return [event["params"] for event in self.events if event.get("method") == method]

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png", optimizeForSpeed=False)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
