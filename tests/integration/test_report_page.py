#!/usr/bin/env python3
"""Reports in headless Chromium, on a phone, a laptop and paper, light and dark: nothing is complained of, asked for or too wide; the
timeline zooms, moves and finds kernels; its slices and figures are those of the trace; names cannot run; 512 ranks stay quick.

  test_report_page.py --tracetool PATH [--traces FOLDER] [--agent PATH --simulated PATH]     exit 77 where there is no Chromium
"""
import argparse
import base64
import collections
import glob
import json
import os
import re
import shlex
import sys

import made_profiles
from harness import Folder, check, finish, first, run, skip

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/viewer"))
from chromium import find_chromium  # noqa: E402
from report_page import CONTROL, LAPTOP, PHONE, ReportPage  # noqa: E402

NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
HOSTILE = ("</script><script>window.hacked = 1</script>", "<img src=x onerror='window.hacked = 2'>", "<!-- <script> ", "'\"><svg/onload=window.hacked=3>",
           "\u202egnp.exe", "]]>", "javascript:window.hacked=4", "a\\u003c/script>", "${window.hacked=5}")
TIMELINE = "document.getElementById('timeline').timeline"
SHOWN = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cpu_op", "user_annotation", "gpu_user_annotation", "cuda_sync", "overhead"}


def report(tracetool, folder, *inputs, name="report.html", more=()):
    path = f"{folder}/{name}"
    result = run([tracetool, "report", *inputs, "-o", path, *more])
    check(result.returncode == 0, f"{name}: report writes the page", result.stderr)
    return path


def job(folder, ranks, steps=5, kernels=None):
    """Profiles of a job whose steps have matrix products, other compute and communication."""
    os.makedirs(folder)
    kernels = kernels or [*made_profiles.STEP, (NCCL, 1_200_000)]
    for rank in range(ranks):
        made_profiles.profile(f"{folder}/rank{rank}.json", kernels, steps=steps, rank=rank, seed=rank)
    return folder


def view(page):
    return page.js(f"{TIMELINE}.view")


def place(page):
    """Of the canvas: {x, y, width, height, gutter}."""
    return page.js(f"(() => {{ const c = document.getElementById('tl-canvas'); c.scrollIntoView({{block: 'center'}}); const r = c.getBoundingClientRect();"
                   f" return {{x: r.x, y: r.y, width: r.width, height: r.height, gutter: {TIMELINE}.drawing.gutter}}; }})()")


def check_quiet(page, name):
    check(not page.complaints(), f"{name}: nothing is complained of", page.complaints())
    check(not page.requests(), f"{name}: it asks for nothing beside itself", page.requests())


def check_looks(path, what):
    for size_name, size in (("phone", PHONE), ("laptop", LAPTOP)):
        for scheme in ("light", "dark"):
            name = f"{what}, {size_name}, {scheme}"
            with ReportPage(path, size, scheme) as page:
                check_quiet(page, name)
                wide = page.js("[document.documentElement.scrollWidth, window.innerWidth]")
                check(wide[0] <= wide[1], f"{name}: it is not wider than the window", wide)
                check(page.js(f"!!{TIMELINE}") and page.js("!document.getElementById('tl-live').hidden"), f"{name}: the timeline is alive")
                check(painted(page) > 20, f"{name}: something is drawn on it", painted(page))
                background = page.js("getComputedStyle(document.body).backgroundColor")
                dark = sum(map(int, re.findall(r"\d+", background)[:3])) < 3 * 64
                check(dark == (scheme == "dark"), f"{name}: its background is as asked for", background)
                contrast = page.js(CONTRAST)
                check(min(contrast.values()) >= 3, f"{name}: each colour stands out from the page, 3:1 at least", contrast)


# Of each kind of slice: its colour to the background, by WCAG 2.
CONTRAST = """(() => {
  const {colors} = document.getElementById('timeline').timeline.drawing;
  const light = c => [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16) / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const to = c => { const [a, b] = [light(c), light(colors.background)].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05); };
  return Object.fromEntries(Object.entries(colors.fill).map(([word, c]) => [word, to(c)]));
})()"""


def painted(page):
    """How often neighbouring pixels of every fourth line differ."""
    return page.js("""(() => {
      const c = document.getElementById('tl-canvas'), all = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
      let changes = 0;
      for (let y = 26; y < c.height; y += 4) {
        for (let i = 4 * c.width * y + 4; i < 4 * c.width * (y + 1); i += 4) changes += all[i] !== all[i - 4] || all[i + 1] !== all[i - 3];
      }
      return changes;
    })()""")


def check_print(path, what):
    with ReportPage(path, LAPTOP, media="print") as page:
        check(page.js("getComputedStyle(document.getElementById('tl-live')).display") == "none", f"{what}: paper has no controls")
        tall = page.js("document.querySelector('#tl-static svg').getBoundingClientRect().height")
        check(tall > 40, f"{what}: paper has the chart", tall)
        begin = page.js("performance.now()")
        page.frame()
        took = page.js("performance.now()") - begin
        check(took < 10_000 and page.js(f"{TIMELINE}.drawing.ticks().ticks.length") <= 1000, f"{what}: a timeline that is hidden is no work", took)
        folded = "document.querySelectorAll('details:not([open])').length"
        before = page.js(folded)
        data = base64.b64decode(page.pdf())
        check(before > 0 and page.js(folded) == before, f"{what}: what was folded before it was printed is folded again", [before, page.js(folded)])
        check(data.startswith(b"%PDF") and len(data) > 10_000, f"{what}: it can be printed", len(data))
        check_quiet(page, f"{what}, printed")


def check_without_script(path, what):
    with ReportPage(path, PHONE, script=False) as page:
        seen = page.js("""['#tl-static svg', '#timeline table', '#tl-live'].map(s => document.querySelector(s)).map(e => e.checkVisibility ? e.checkVisibility() : e.offsetHeight > 0)""")
        check(seen[0] and not seen[2], f"{what}, no script: the picture is there, the controls are not", seen)
        rows = page.js("document.querySelectorAll('#timeline tbody tr').length")
        check(rows > 0, f"{what}, no script: the table is there", rows)
        check(not page.complaints(), f"{what}, no script: nothing is complained of", page.complaints())


def check_search(path, what, text):
    with ReportPage(path) as page:
        page.js(f"(() => {{ const s = document.getElementById('tl-search'); s.value = {json.dumps(text)}; s.dispatchEvent(new Event('input')); }})()")
        said = page.js("document.getElementById('tl-found').textContent")
        slices = page.js(f"{TIMELINE}.matches.length")
        check(slices > 0 and said == f"{slices} slice{'s' if slices != 1 else ''}", f"{what}: it says how many slices have {text} in their name", [said, slices])
        page.js("document.getElementById('tl-next').click()")
        page.frame()
        page.frame()
        found = page.js(f"(() => {{ const t = {TIMELINE}, {{row, at}} = t.selected, d = t.drawing, line = d.lines.find(l => l.row === row);"
                        " return {name: t.model.names[row.names[at]].text, start: row.starts[at], end: row.ends[at], from: t.view.from, to: t.view.to,"
                        " wide: (row.ends[at] - row.starts[at]) * d.scale, y: line ? line.y - t.scroll.scrollTop : -1, height: d.height}; })()")
        check(text.lower() in found["name"].lower(), f"{what}: next selects one of them", found)
        check(found["from"] <= found["start"] and found["end"] <= found["to"] and found["wide"] >= 20, f"{what}: it is zoomed to", found)
        check(0 <= found["y"] < found["height"], f"{what}: its row is in sight", found)
        check(text.lower() in page.js("document.getElementById('tl-said').textContent").lower(), f"{what}: and what is known of it is said")
        at_first = page.js(f"{TIMELINE}.selected.row.starts[{TIMELINE}.selected.at]")
        page.js("document.getElementById('tl-next').click()")
        check(slices == 1 or page.js(f"{TIMELINE}.selected.row.starts[{TIMELINE}.selected.at]") >= at_first, f"{what}: the next is later")
        page.js("document.getElementById('tl-search').dispatchEvent(new Event('input')); document.getElementById('tl-previous').click()")
        check(page.js("document.getElementById('tl-found').textContent") == f"{slices} of {slices}", f"{what}: after a search, previous is the last")
        check_quiet(page, what)


def check_moves(path):
    with ReportPage(path) as page:
        at = place(page)
        x, y = at["x"] + at["gutter"] + (at["width"] - at["gutter"]) * 0.25, at["y"] + 60
        begin = view(page)
        page.wheel(x, y, -200, CONTROL)
        zoomed = view(page)
        check(zoomed["to"] - zoomed["from"] < 0.8 * (begin["to"] - begin["from"]), "Ctrl and the wheel zoom", [begin, zoomed])
        under = [v["from"] + (v["to"] - v["from"]) * 0.25 for v in (begin, zoomed)]
        check(abs(under[0] - under[1]) < 0.002 * (begin["to"] - begin["from"]), "what is under the pointer stays there", under)
        page.drag(x + 100, y, x, y)
        dragged = view(page)
        moved = (dragged["from"] - zoomed["from"]) / (zoomed["to"] - zoomed["from"]) * (at["width"] - at["gutter"])
        check(abs(moved - 100) < 2, "dragging moves by as many pixels", moved)
        page.js("document.getElementById('tl-fit').click()")
        check(abs(view(page)["from"]) < 1 and view(page)["to"] == begin["to"], "Fit shows all", view(page))
        page.js("document.getElementById('tl-canvas').focus()")
        spans = []
        for key in ("w", "w", "s", "d", "ArrowLeft", "+", "-"):
            before = view(page)
            page.key(key)
            spans.append((key, before, view(page)))
        for key, before, after in spans:
            change = (after["to"] - after["from"]) / (before["to"] - before["from"])
            good = {"w": change < 0.9, "+": change < 0.9, "s": change > 1.1, "-": change > 1.1, "d": after["from"] > before["from"], "ArrowLeft": after["from"] < before["from"]}[key]
            check(good, f"key {key}", [before, after])
        check_click(page)
        check_quiet(page, "after all this")


def check_click(page):
    """A click on a rank opens it; one on a slice selects it, and its pixels have its colour."""
    page.js("document.getElementById('tl-fit').click()")
    at = place(page)
    head = page.js(f"{TIMELINE}.drawing.lines.find(l => l.kind === 'head').y")
    page.click(at["x"] + 20, at["y"] + head + 6)
    check(page.js(f"{TIMELINE}.opened.size") == 1, "a click on a rank opens it")
    at = place(page)
    slice_at = page.js(f"(() => {{ const t = {TIMELINE}, d = t.drawing, line = d.lines.find(l => l.kind === 'row' && l.track.gpu && !l.group.exposed.includes(l.row)), row = line.row;"
                       " let best = 0; row.starts.forEach((s, i) => { if (row.ends[i] - s > row.ends[best] - row.starts[best]) best = i; });"
                       " return {x: d.x((row.starts[best] + row.ends[best]) / 2), left: d.x(row.starts[best]), right: d.x(row.ends[best]), y: line.y - t.scroll.scrollTop + 8,"
                       " start: row.starts[best], color: d.colors.of(t.model.names[row.names[best]], row.names[best]).fill}; })()")
    pixel = page.js(f"[...document.getElementById('tl-canvas').getContext('2d').getImageData({slice_at['right'] - 3}, {slice_at['y'] + 5}, 1, 1).data].slice(0, 3)")
    check("#" + "".join(f"{part:02x}" for part in pixel) == slice_at["color"], "a slice is drawn where its time is", [pixel, slice_at])
    page.click(at["x"] + slice_at["x"], at["y"] + slice_at["y"])
    check(page.js(f"{TIMELINE}.selected && {TIMELINE}.selected.row.starts[{TIMELINE}.selected.at]") == slice_at["start"], "a click selects the slice under it", slice_at)
    page.mouse("mouseMoved", at["x"] + slice_at["x"], at["y"] + slice_at["y"])
    page.frame()
    tip = page.js("[document.getElementById('tl-tip').hidden, document.getElementById('tl-tip').innerText]")
    check(not tip[0] and "long" in tip[1] and "stream 7" in tip[1] and "rank 0" in tip[1], "what is under the pointer is told", tip)


# Of slices of rows in sight that are wider than 3 pixels, those in whose middle nothing is drawn; and how many there are.
MISSING = """(() => {
  const t = document.getElementById('timeline').timeline, d = t.drawing, c = t.canvas, missing = [];
  t.draw();
  const all = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, background = d.colors.background;
  let wide = 0;
  for (const line of d.lines.filter(l => l.kind === 'row')) {
    const y = Math.round(line.y - t.scroll.scrollTop);  // above its text
    if (y < 30 || y > c.height - 2) continue;
    line.row.starts.forEach((start, at) => {
      const from = Math.max(d.x(start), d.gutter), to = Math.min(d.x(line.row.ends[at]), d.width), i = 4 * (Math.floor((from + to) / 2) + y * c.width);
      if (to - from <= 3) return;
      ++wide;
      if ('#' + [0, 1, 2].map(k => all[i + k].toString(16).padStart(2, '0')).join('') === background) missing.push([line.track.name, start]);
    });
  }
  return [missing, wide];
})()"""


def check_drawn(path, what):
    """At several zooms, every slice that can be seen is drawn."""
    with ReportPage(path) as page:
        page.js("document.getElementById('tl-open').click()")
        page.frame()
        missing, wide = [], 0
        for factor in (1, 0.5, 0.5, 0.5, 0.3):
            page.js(f"{TIMELINE}.zoom({factor})")
            found = page.js(MISSING)
            missing, wide = missing + found[0], wide + found[1]
        check(not missing and wide > 30, f"{what}: each of {wide} slices wider than 3 pixels is drawn", lambda: f"{len(missing)}: {first(missing, 3)}")


def check_touch(path):
    with ReportPage(path, PHONE) as page:
        page.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        at = place(page)
        middle, y, begin = at["x"] + (at["gutter"] + at["width"]) / 2, at["y"] + 60, view(page)
        page.touch("touchStart", (middle - 20, y), (middle + 20, y))
        for wide in (40, 60, 80):
            page.touch("touchMove", (middle - wide, y), (middle + wide, y))
        page.touch("touchEnd")
        now = view(page)
        check((now["to"] - now["from"]) * 2 < begin["to"] - begin["from"], "two fingers apart zoom in", [begin, now])
        check_quiet(page, "two fingers")


def check_links(tracetool, folder, path, trace_start_to):
    """`trace_start_to`: (start, end, rank) of a kernel in the step that is shown, in ns since the start of the trace."""
    start, end, rank = trace_start_to
    with ReportPage(path, link=f"t={start}-{end}&rank={rank}") as page:
        page.frame()
        origin, seen = page.js(f"{TIMELINE}.model.start"), view(page)
        inside = seen["from"] + origin <= start and end <= seen["to"] + origin
        check(inside and seen["to"] - seen["from"] <= 2 * (end - start), "a link opens the page at its time", [seen, origin, trace_start_to])
        check(page.js(f"[...{TIMELINE}.opened].some(g => g.rank === {rank})"), "its rank is open")
        page.js("location.hash = '#t=999999999999-1000000000000&rank=0'")
        page.frame()
        said = page.js("document.getElementById('tl-said').textContent")
        check("outside" in said and "--time 999999999999ns-1000000000000ns -o part.html" in said, "of a time that is not shown it says how to see it", said)
        page.js("location.hash = '#t=-2000--1000'")
        page.frame()
        said = page.js("document.getElementById('tl-said').textContent")
        check_commands(tracetool, folder, said, 2)
        step, begin, _ = page.js(f"{TIMELINE}.model.steps[0]")
        page.js(f"location.hash = '#t={begin + 1000}-{begin + 2000}&rank=0'")
        page.frame()
        said = page.js("document.getElementById('tl-said').textContent")
        check(f" --step {step} -o step{step}.html," in said, "and of another step which one it is", said)
        check_commands(tracetool, folder, said, 2)
        check_quiet(page, "links")


def check_commands(tracetool, folder, said, count):
    """The commands that the page offers run as they are."""
    commands = re.findall(r"tracetool .*? -o \S+(?=,|$)", said)
    check(len(commands) == count, "the page offers commands", said)
    for command in commands:
        result = run([tracetool, *shlex.split(command)[1:]], cwd=folder)
        check(result.returncode == 0, f"what the page offers runs: {command}", result.stderr)


def check_findings(path, what):
    """Each link of a finding leads to its time, or to the words that it is not shown; also when it is followed again."""
    with ReportPage(path) as page:
        links = page.js("[...document.querySelectorAll('a[href^=\"#t=\"]')].map(a => a.hash)")
        inside, outside, lost = 0, 0, []
        for number, link in enumerate(links):
            start, end, rank = re.fullmatch(r"#t=(-?\d+)-(-?\d+)(?:&rank=(\d+))?", link).groups()
            start, end = int(start), int(end)
            for _ in range(2):
                page.js(f"{TIMELINE}.fit(); document.querySelectorAll('a[href^=\"#t=\"]')[{number}].click()")
                page.frame()
                seen, said = page.js(f"[{TIMELINE}.view, document.getElementById('tl-said').textContent]")
                first_ns, last_ns = page.js(f"[{TIMELINE}.model.start, {TIMELINE}.model.start + {TIMELINE}.model.length]")
                if "outside" in said and (end <= first_ns or start >= last_ns):
                    outside += 1
                elif start < last_ns and end > first_ns and seen["from"] + first_ns <= max(start, first_ns) and min(end, last_ns) <= seen["to"] + first_ns and (rank is None or f"rank {rank}" in said):
                    inside += 1
                else:
                    lost.append([link, seen, said])
        check(not lost and inside > 0, f"{what}: of {2 * len(links)} clicks on times of findings {inside} lead there, {outside} say that it is not shown", lost[:2])
        check_quiet(page, f"{what}, findings")


def slices_in_page(page):
    """Counter of (rank, name, kind, start, end), in ns of the step; without what is computed."""
    return collections.Counter(map(tuple, page.js(f"""{TIMELINE}.model.groups.flatMap(g => g.tracks.flatMap(t => t.rows.filter(r => !g.exposed.includes(r)).flatMap(r =>
      Array.from(r.starts, (s, i) => [g.rank, {TIMELINE}.model.names[r.names[i]].text, {TIMELINE}.model.names[r.names[i]].kind, s, r.ends[i]]))))""")))


KINDS = {"cuda_runtime": "runtime", "cuda_driver": "driver", "gpu_memcpy": "memcpy", "gpu_memset": "memset"}


def slices_in_profiles(paths, step):
    """The same by Python: what runs between the first start of the step and its last end on any rank."""
    events = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        events[trace["distributedInfo"]["rank"]] = [(e, round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)) for e in trace["traceEvents"] if e["ph"] == "X"]
    steps = [(start, end) for of_rank in events.values() for e, start, end in of_rank if e["name"] == f"ProfilerStep#{step}"]
    origin = min(start for of_rank in events.values() for _, start, _ in of_rank)
    begin, last = min(start for start, _ in steps), max(end for _, end in steps)
    inside = collections.Counter((rank, re.sub(r"\(.*", "", e["name"]), KINDS.get(e["cat"], e["cat"]), start - begin, end - begin)
                                 for rank, of_rank in events.items() for e, start, end in of_rank if e["cat"] in SHOWN and start < last and (end > begin or start >= begin))
    return inside, begin - origin, last - origin


def check_truth(tracetool, folder, path, ranks):
    with ReportPage(path) as page:
        step = page.js(f"{TIMELINE}.model.step")
        have, model = slices_in_page(page), page.js(f"[{TIMELINE}.model.start, {TIMELINE}.model.length]")
    should, begin, last = slices_in_profiles(glob.glob(f"{folder}/*.json"), step)
    check(model == [begin, last - begin], f"step {step}: the time is from its first start to its last end", [model, begin, last])
    check(have == should and len(have) > 10 * ranks, f"step {step}: every slice is there, at its time", lambda: f"only in the page {first((have - should).items(), 3)}, only in the trace {first((should - have).items(), 3)}")
    check_figures(tracetool, path, folder)


KINDS_SHOWN = "kernel,memcpy,memset,graph,runtime,driver,nvtx,nccl,sync,overhead,cpu_op,user_annotation,gpu_annotation,garbage_collection"


def check_exported(tracetool, folder, path, inputs, what):
    """Its slices are those of an export of the same time, each where the clocks of all ranks put it."""
    with ReportPage(path) as page:
        start, length = page.js(f"[{TIMELINE}.model.start, {TIMELINE}.model.length]")
        have = collections.Counter((rank, name, begin, end) for rank, name, _, begin, end in slices_in_page(page).elements())
    file = f"{folder}/exported.json"
    result = run([tracetool, "export", inputs, "--time", f"{start}ns-{start + length}ns", "--kinds", KINDS_SHOWN, "-o", file])
    if not check(result.returncode == 0, f"{what}: export writes the same time", result.stderr):
        return
    with open(file, encoding="utf-8") as read:
        events = [e for e in json.load(read)["traceEvents"] if e["ph"] == "X" and e["cat"] != "computed"]
    should = collections.Counter((e["pid"] - 1, e["name"], round(e["ts"] * 1000) - start, round(e["ts"] * 1000) + round(e["dur"] * 1000) - start) for e in events)
    check(have == should and have, f"{what}: each of {sum(have.values())} slices is in an export of this time, and none besides",
          lambda: f"only in the page {first((have - should).items(), 3)}, only in the export {first((should - have).items(), 3)}")


def check_figures(tracetool, path, *inputs):
    """The table under the timeline, and the parts of ranks without slices, are what analyze has of this time."""
    with ReportPage(path) as page:
        begin, last = page.js("(t => [t.dataset.fromNs, t.dataset.toNs])(document.querySelector('#timeline table'))")
        rows = page.js("[...document.querySelectorAll('#timeline tbody tr')].map(r => [r.cells[0].textContent, ...[...r.querySelectorAll('td[data-v]')].map(c => Number(c.dataset.v))])")
        parts = page.js(f"{TIMELINE}.model.groups.filter(g => g.devices.length).map(g => [g.title, ...['busy', 'compute', 'comm', 'exposed', 'memory'].map(k => g.devices[0][k].reduce((a, b) => a + b, 0))])")
        drawn = page.js(f"{TIMELINE}.model.groups.filter(g => !g.devices.length).map(g => [g.title, g.exposed.reduce((sum, r) => sum + r.starts.reduce((s, start, i) => s + r.ends[i] - start, 0), 0)])")
    result = run([tracetool, "analyze", *inputs, "--only", "temporal", "--time", f"{begin}ns-{last}ns", "--format", "json"])
    table = json.loads(result.stdout)["temporal"]
    exposed = {f"rank {row['rank']}": row["exposed_comm_ns"] or 0 for row in table}
    check(all(exposed[title] == ns for title, ns in drawn), f"{os.path.basename(path)}: exposed communication is drawn, of {len(drawn)} ranks", [drawn, exposed])
    keys = ("busy_ns", "compute_ns", "comm_ns", "exposed_comm_ns", "memory_ns", "idle_ns")
    should = [[f"rank {row['rank']}", *(row[key] for key in keys)] for row in table]
    check(rows == should and rows, f"{os.path.basename(path)}: the table's figures are those of analyze, of {len(rows)} GPUs", lambda: f"{first([p for p in zip(rows, should) if p[0] != p[1]], 2)}")
    by_name = {row[0]: row[1:6] for row in should}
    check(all(by_name[name] == sums for name, *sums in parts), f"{os.path.basename(path)}: parts add up to them, of {len(parts)} ranks", parts[:2])


def check_hostile(tracetool, folder):
    os.makedirs(f"{folder}/hostile")
    path = made_profiles.profile(f"{folder}/hostile/rank0.json", [(name, 1_000_000) for name in HOSTILE], steps=5)
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    for number, name in enumerate(HOSTILE):
        trace["traceEvents"].append({"ph": "M", "name": "thread_name", "pid": 0, "tid": 7 + number, "ts": 0, "args": {"name": name}})
        trace["traceEvents"].append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 100, "tid": 1, "ts": 100 + number * 1000, "dur": 10, "args": {}})
    trace["deviceProperties"] = [{"id": 0, "name": HOSTILE[0]}]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)
    page_path = report(tracetool, folder, path, name="hostile.html", more=("--title", HOSTILE[0]))
    with ReportPage(page_path) as page:
        page.js("document.getElementById('tl-open').click()")
        page.frame()
        check(page.js("window.hacked === undefined"), "hostile names do not run")
        names = page.js(f"{TIMELINE}.model.names.map(n => n.text)")
        check(HOSTILE[1] in names and HOSTILE[2] in names and any("</script>" in name for name in names), "they are names like others", names)
        check(page.js("document.querySelectorAll('img').length") == 0, "and make no elements")
        at = place(page)
        for y in range(30, int(at["height"]), 8):
            page.mouse("mouseMoved", at["x"] + at["width"] / 2, at["y"] + y)
        check(page.js("window.hacked === undefined"), "nor in what is told of them")
        check_quiet(page, "hostile names")


def many_ranks(folder, ranks):
    """As 8 ranks, with other numbers."""
    os.makedirs(folder)
    kernels = [(f"{('ampere_sgemm', 'elementwise', 'softmax', NCCL)[number % 4]}_{number % 40}" if number % 4 != 3 else NCCL, 5_000 + 977 * (number % 60)) for number in range(300)]
    texts = []
    for rank in range(8):
        path = made_profiles.profile(f"{folder}/first.json", kernels, steps=3, rank=rank, seed=rank)
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
        os.remove(path)
    for rank in range(ranks):
        with open(f"{folder}/rank{rank}.json", "w", encoding="utf-8") as file:
            file.write(texts[rank % 8].replace(f'"rank": {rank % 8}, "world_size": 2', f'"rank": {rank}, "world_size": {ranks}', 1))
    return folder


ZOOM = """(async () => {
  const t = document.getElementById('timeline').timeline, factors = [...Array(15).fill(0.7), ...Array(15).fill(1 / 0.7)];
  for (const factor of factors) {
    t.zoom(factor);
    await new Promise(done => requestAnimationFrame(done));
  }
  return factors.length;
})()"""


def cpu_ms(page):
    """Of the page's process: what it takes does not depend on what else the machine does."""
    return 1000 * next(metric["value"] for metric in page.call("Performance.getMetrics")["metrics"] if metric["name"] == "ProcessTime")


def check_many(tracetool, folder):
    inputs = many_ranks(f"{folder}/many", 512)
    path = report(tracetool, folder, inputs, name="many.html")
    size = os.path.getsize(path)
    check(size <= 10_000_000, f"512 ranks: the page has {size / 1e6:.1f} MB, of 10 at most", size)
    with ReportPage(path) as page:
        page.call("Performance.enable")
        ready = cpu_ms(page)
        check(ready < 2000, f"512 ranks: loaded and drawn in {ready:.0f} ms of CPU time (2,000)", ready)
        check(page.js(f"{TIMELINE}.model.groups.length") == 512, "512 ranks: all are in the timeline")
        for what in ("closed", "open"):
            if what == "open":
                page.js("document.getElementById('tl-open').click()")
            before = cpu_ms(page)
            frames = page.js(ZOOM)
            each = (cpu_ms(page) - before) / frames
            check(each < 100, f"512 ranks, {what}: a frame of zooming takes {each:.0f} ms of CPU time (100)", each)
        page.js("document.getElementById('tl-fit').click()")
        page.js(f"{TIMELINE}.scroll.scrollTop = 1e9")
        page.frame()
        check(painted(page) > 20, "512 ranks: the last ones are drawn")
        check_quiet(page, "512 ranks")
    check_looks_wide(path)
    check_figures(tracetool, path, inputs)


def check_looks_wide(path):
    with ReportPage(path, PHONE) as page:
        wide = page.js("[document.documentElement.scrollWidth, window.innerWidth]")
        check(wide[0] <= wide[1], "512 ranks, phone: it is not wider than the window", wide)


def check_simulated(args, folder):
    """A recording of two hosts whose clocks differ."""
    traces = f"{folder}/traces"
    result = run([args.simulated, "--agent", args.agent, "--dir", traces, "--ranks", "4", "--hosts", "2", "--clock-offset-us", "3000", "--straggler", "2", "--steps", "10"])
    check(result.returncode == 0, "a simulated run is recorded", result.stderr)
    path = report(args.tracetool, folder, traces, name="simulated.html")
    check_exported(args.tracetool, folder, path, traces, "simulated")
    check_figures(args.tracetool, path, traces)
    check_search(path, "simulated", "nccl")


def check_flame(path, what):
    """A click on a box makes it as wide as the chart, and a search says how much of the time has the name."""
    graph = "document.getElementById('flame-graph')"
    with ReportPage(path) as page:
        check(not page.js("document.getElementById('flame-controls').hidden"), f"{what}: the flame graph is alive")
        before = page.js(f"{graph}.flame.boxes.map(b => b.width)")
        at = page.js(f"(() => {{ const boxes = {graph}.flame.boxes, at = boxes.findIndex(b => b.width > 5 && b.width < 60);"
                     f" boxes[at].element.scrollIntoView({{block: 'center'}}); const r = boxes[at].element.querySelector('rect').getBoundingClientRect(); return {{at, x: r.x + r.width / 2, y: r.y + 8}}; }})()")
        page.click(at["x"], at["y"])
        page.frame()
        wide = page.js(f"{graph}.flame.boxes[{at['at']}].element.querySelector('rect').getBoundingClientRect().width / {graph}.querySelector('.chart').getBoundingClientRect().width")
        check(abs(wide - 1) < 0.01, f"{what}: a click on a box zooms to it", wide)
        gone = page.js(f"{graph}.querySelectorAll('.gone').length")
        page.js("document.getElementById('flame-all').click()")
        after = page.js(f"{graph}.flame.boxes.map(b => parseFloat(b.element.getAttribute('width')))")
        check(gone > 0 and not page.js(f"{graph}.querySelectorAll('.gone').length") and all(abs(a - b) < 0.02 for a, b in zip(before, after)), f"{what}: Show all shows all", [gone, first(zip(before, after))])
        page.js("(() => { const s = document.getElementById('flame-search'); s.value = 'gemm'; s.dispatchEvent(new Event('input')); })()")
        found = page.js(f"{graph}.flame.boxes.filter(b => b.found).reduce((sum, b) => sum + b.width, 0)")
        said = page.js("document.getElementById('flame-found').textContent")
        check(found > 0 and abs(float(said.split()[0]) - found) < 0.2, f"{what}: a search says how much of the time it found", [said, found])
        check_quiet(page, f"{what}, flame graph")


def check_diff(tracetool, folder, before):
    """The page of a comparison, on a phone and a laptop."""
    slower = job(f"{folder}/slower", 2, kernels=[*made_profiles.STEP, (NCCL, 2_400_000)])
    path = f"{folder}/diff.html"
    result = run([tracetool, "diff", before, slower, "--html", path])
    check(result.returncode == 0, "diff --html writes the page", result.stderr)
    for name, size in (("phone", PHONE), ("laptop", LAPTOP)):
        for scheme in ("light", "dark"):
            with ReportPage(path, size, scheme) as page:
                check_quiet(page, f"diff, {name}, {scheme}")
                wide = page.js("[document.documentElement.scrollWidth, window.innerWidth]")
                check(wide[0] <= wide[1], f"diff, {name}, {scheme}: it is not wider than the window", wide)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tracetool", required=True, type=os.path.abspath)
    parser.add_argument("--traces", default="none", type=os.path.abspath)
    for name in ("agent", "simulated"):
        parser.add_argument("--" + name, type=os.path.abspath)
    args = parser.parse_args()
    if not find_chromium():
        skip("there is no Chromium: scripts/setup.sh --viewer fetches it")
    with Folder() as folder:
        inputs = job(f"{folder}/job", 4)
        path = report(args.tracetool, folder, inputs)
        check_looks(path, "4 ranks")
        check_print(path, "4 ranks")
        check_without_script(path, "4 ranks")
        check_search(path, "4 ranks", "softmax")
        check_moves(path)
        check_drawn(path, "4 ranks")
        check_touch(path)
        check_truth(args.tracetool, inputs, path, 4)
        with ReportPage(path) as page:
            start, end = page.js(f"(() => {{ const m = {TIMELINE}.model, row = m.groups[1].work[0]; return [row.starts[3] + m.start, row.ends[3] + m.start]; }})()")
        check_links(args.tracetool, folder, path, (start, end, 1))
        chosen = report(args.tracetool, folder, inputs, name="chosen.html", more=("--step", "1", "--timeline-ranks", "2"))
        with ReportPage(chosen) as page:
            shown = page.js(f"[{TIMELINE}.model.step, {TIMELINE}.model.groups.filter(g => g.tracks.length).map(g => g.rank)]")
            check(shown == [1, [2]], "--step and --timeline-ranks choose", shown)
        check_figures(args.tracetool, chosen, inputs)
        check_exported(args.tracetool, folder, path, inputs, "4 ranks")
        check_flame(path, "4 ranks")
        check_diff(args.tracetool, folder, job(f"{folder}/before", 2))
        check_hostile(args.tracetool, folder)
        check_many(args.tracetool, folder)
        if args.simulated:
            check_simulated(args, folder)
        real = os.path.join(args.traces, "modded-nanogpt-8xh100")
        if os.path.isdir(real):
            path = report(args.tracetool, folder, real, name="h100.html")
            check(os.path.getsize(path) <= 2_000_000, f"8 ranks of H100s: the page has {os.path.getsize(path) / 1e6:.2f} MB, of 2 at most")
            check_looks(path, "8 H100s")
            check_print(path, "8 H100s")
            check_search(path, "8 H100s", "ncclDevKernel")
            check_drawn(path, "8 H100s")
            check_findings(path, "8 H100s")
            check_exported(args.tracetool, folder, path, real, "8 H100s")
            check_figures(args.tracetool, path, real)
    finish()


main()
