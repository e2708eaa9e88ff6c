#!/usr/bin/env python3
"""`tracetool open`: serves a trace or a report to the browser of this machine, to who has the address alone, and leaves nothing behind.

  test_open.py --tracetool PATH --simulated PATH --agent PATH
"""
import http.client
import os
import signal
import socket
import subprocess
from urllib.parse import urlsplit

from harness import Folder, arguments, check, finish, run

PERFETTO = "https://ui.perfetto.dev"
IN_USE = "127.0.0.1:9001: Address already in use"


class Opened:
    """A running `tracetool open`; `address` is where its file is, `line` what it printed. None and the message if it ended."""

    def __init__(self, options, folder, *words):
        self.scratch = f"{folder}/scratch"
        os.makedirs(self.scratch, exist_ok=True)
        self.process = subprocess.Popen([options.tracetool, "open", *words], cwd=folder, text=True, env={**os.environ, "TMPDIR": self.scratch},
                                        stdout=subprocess.PIPE, stderr=open(f"{folder}/messages", "w+"))
        self.line = self.process.stdout.readline().strip()
        self.address = urlsplit(self.line.split("?url=")[-1])

    def said(self, folder):
        return open(f"{folder}/messages").read()

    def ask(self, method="GET", path=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.address.port, timeout=60)
        connection.request(method, self.address.path if path is None else path, headers={"Origin": PERFETTO})
        answer = connection.getresponse()
        return answer, answer.read()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait()


def check_server(what, opened, origin):
    answer, content = opened.ask()
    check(answer.status == 200 and int(answer.headers["Content-Length"]) == len(content) > 0, f"{what}: the file is served whole", answer.status)
    check(answer.headers.get("Access-Control-Allow-Origin") == origin, f"{what}: {origin or 'no other site'} may read it", answer.headers.items())
    again = opened.ask()[1]
    check(again == content, f"{what}: once more, as after a reload", len(again))
    answer, nothing = opened.ask("HEAD")
    check(answer.status == 200 and not nothing and int(answer.headers["Content-Length"]) == len(content), f"{what}: HEAD has no content", answer.status)
    token, name = opened.address.path.split("/")[1:]
    for path in ("/", f"/{name}", f"/{'0' * len(token)}/{name}", f"/{token}/", f"/{token}/../{name}", f"/{token}/{name}/", "/etc/passwd"):
        answer, nothing = opened.ask("GET", path)
        check(answer.status == 404 and not nothing and "Access-Control-Allow-Origin" not in answer.headers, f"{what}: nothing is at another address", (path, answer.status))
    check(opened.ask("POST")[0].status == 405, f"{what}: nothing can be sent to it")
    with socket.create_connection(("127.0.0.1", opened.address.port)) as silent:  # as browsers connect ahead
        check(opened.ask()[1] == content, f"{what}: who connects and asks nothing keeps nobody waiting")
        silent.sendall(b"GET " + b"x" * 100_000)
    check(opened.ask()[1] == content, f"{what}: a request without an end does no harm")
    return content


def main():
    options = arguments("tracetool", "simulated", "agent")
    with Folder() as folder:
        run([options.simulated, "--agent", options.agent, "--dir", f"{folder}/traces", "--ranks", "2", "--steps", "3"], cwd=folder)

        opened = Opened(options, folder, "--report", "traces")
        page = check_server("report", opened, None)
        check(b"<html" in page and os.listdir(opened.scratch) == [], "report: nothing lies on the disk while it is served", os.listdir(opened.scratch))
        listening = [line.split()[1] for line in open("/proc/net/tcp") if line.split()[3] == "0A" and line.split()[1].endswith(f":{opened.address.port:04X}")]
        check(listening == [f"0100007F:{opened.address.port:04X}"], "report: it listens on 127.0.0.1 alone", listening)
        check(opened.end() == -signal.SIGINT and os.listdir(opened.scratch) == [], "report: Ctrl-C ends it, and nothing is left", opened.said(folder))

        opened = Opened(options, folder, "traces", "--steps", "1")
        if not opened.line:
            check(IN_USE in opened.said(folder), "trace: the port that Perfetto's page reads from is another's, which is said", opened.said(folder))
            return finish()
        check(opened.line.startswith(f"{PERFETTO}/#!/?url=http://127.0.0.1:9001/") and opened.line.endswith("/traces.pftrace"), "trace: the address is a link for Perfetto's page", opened.line)
        trace = check_server("trace", opened, PERFETTO)
        preflight = opened.ask("OPTIONS")[0]
        check(preflight.status == 204 and preflight.headers["Access-Control-Allow-Private-Network"] == "true", "trace: a browser may ask first", preflight.headers.items())
        run([options.tracetool, "export", "--pftrace", "traces", "--steps", "1", "-o", "same.pftrace"], cwd=folder)
        check(trace == open(f"{folder}/same.pftrace", "rb").read(), "trace: it is what export writes", len(trace))
        second = Opened(options, folder, "traces")
        check(not second.line and second.process.wait() == 2 and IN_USE in second.said(folder), "trace: a second one says that the port is in use", second.said(folder))
        opened.process.kill()
        opened.process.wait()
        check(os.listdir(opened.scratch) == [], "trace: kill -9 leaves nothing", os.listdir(opened.scratch))

        done = run([options.tracetool, "open", "--report", "traces", "--kinds", "kernel"], cwd=folder)
        check(done.returncode == 1 and "--kinds" in done.stderr, "a report is of all kinds", done)
    finish()


if __name__ == "__main__":
    main()
