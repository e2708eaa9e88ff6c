"""A report in headless Chromium, as a reader opens it: all that it says, asks for and draws is kept, and it can be touched."""
import os

from chromium import Page

WATCHED = ("Page", "Runtime", "Log", "Network")
PHONE, LAPTOP = (390, 844), (1440, 900)
REFUSED = "addEventListener('securitypolicyviolation', e => (window.refused = window.refused || []).push(e.violatedDirective + ' ' + e.blockedURI))"
CONTROL = 2  # of Input's modifiers


class ReportPage(Page):
    """with ReportPage(path, size=PHONE, scheme="dark") as page. `script`: false, as of a reader who runs none; `link`: "t=0-1000&rank=0"."""

    def __init__(self, path, size=LAPTOP, scheme="light", script=True, media="", link=""):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        before = [("Emulation.setEmulatedMedia", {"media": media, "features": features}), ("Page.addScriptToEvaluateOnNewDocument", {"source": REFUSED})]
        if not script:
            before.append(("Emulation.setScriptExecutionDisabled", {"value": True}))
        url = "file://" + os.path.abspath(path) + ("#" + link if link else "")
        super().__init__(url, *size, watched=WATCHED, before=before)
        # Runtime.evaluate runs in a page whose own script does not.
        self.wait_for(f"document.readyState === 'complete' && location.href.startsWith('file:')")

    def complaints(self):
        """What is on the console, was thrown or was refused by the page's security policy."""
        said = [f"console: {[a.get('value', a.get('description')) for a in event['args']]}" for event in self.said("Runtime.consoleAPICalled")]
        said += [f"thrown: {event['exceptionDetails'].get('exception', {}).get('description', event['exceptionDetails']['text'])}" for event in self.said("Runtime.exceptionThrown")]
        said += [f"log: {event['entry']['text']}" for event in self.said("Log.entryAdded")]
        return said + [f"refused: {what}" for what in self.js("window.refused || []")]

    def requests(self):
        """What it asked for beside itself."""
        asked = [event["request"]["url"] for event in self.said("Network.requestWillBeSent")]
        return [url for url in asked if not url.startswith("file:")] + asked[1:]

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def wheel(self, x, y, delta_y, modifiers=0):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta_y, modifiers=modifiers)
        self.frame()

    def drag(self, x, y, to_x, to_y):
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        for part in (0.5, 1):
            self.mouse("mouseMoved", x + (to_x - x) * part, y + (to_y - y) * part, button="left", buttons=1)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)
        self.frame()

    def click(self, x, y, count=1):
        for number in range(1, count + 1):
            self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=number)
            self.mouse("mouseReleased", x, y, button="left", clickCount=number)
        self.frame()

    def touch(self, kind, *points):
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)])
        self.frame()

    def key(self, key):
        text = key if len(key) == 1 else ""
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.frame()

    def frame(self):
        """Until what was asked for is drawn."""
        self.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def pdf(self):
        return self.call("Page.printToPDF", printBackground=True)["data"]
