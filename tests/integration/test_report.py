#!/usr/bin/env python3
"""`tracetool report`, without a browser: each figure of the page is that of `analyze --format json`, `diagnose --format json`, `info
--json` or `merge --report`, each bar as long as its figure; nothing on it loads or runs anything; names of any kind stay names.

  test_report.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import collections
import json
import os
import re
import resource
import shlex

import made_late_job
import made_profiles
import synthesized_traces
from harness import Folder, check, finish, first, run
from page_reader import Bars, ReportPage, escaped, hash_of, place, same
from test_analyze import paths
from trace_sets import folders, inputs
from truth import train

TABLES = ("temporal", "steps", "step_phases", "idle", "overlap", "kernels", "classes", "operators", "modules", "stacks", "memory", "comm", "stragglers")
BY_TIME = {"kernels": "sum_ns", "classes": "sum_ns", "operators": "gpu_self_ns", "modules": "gpu_self_ns", "stacks": "gpu_ns"}  # the largest first
MOST_ROWS, MOST_TOP, MOST_MEMORY_CHARTS = 1024, 50, 4
ALWAYS = ("summary", "findings", "timeline")
PHASES = ("forward_ns", "backward_ns", "optimizer_ns")
IDLE = ("sync_ns", "copy_ns", "after_sync_ns", "host_late_ns", "launch_ns", "queued_ns", "unexplained_ns")
SLOWNESS = float(os.environ.get("TRACETOOL_TEST_SLOWNESS", "4"))  # of a machine on which other tests run


def report(options, folder, paths, *more):
    page = f"{folder}/report.html"
    done = run([options.tracetool, "report", *paths, "-o", page, *map(str, more)])
    return (ReportPage(page) if done.returncode == 0 else None), done


def json_of(options, *words):
    done = run([options.tracetool, *map(str, words)])
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr}


def wrong_rows(rows, told):
    """What differs between rows of the page and those of JSON."""
    for i, (row, values) in enumerate(zip(rows, told)):
        for key, value in values.items():
            if key not in row:
                if not isinstance(value, list):
                    yield f"row {i} has no {key}"
            elif not same(row[key][0], value):
                yield f"row {i}, {key}: {row[key]} is not {value!r}"


def check_table(name, what, page, told):
    rows = page.table(what)
    if rows is None and what == "step_phases" and not any(row[phase] for row in told for phase in PHASES):
        return
    if rows is None:
        check(not told or what == "memory" and all(row["peak_bytes"] is None or row["device"] is None for row in told) or not any(value for row in told for key, value in row.items() if key.endswith("_ns")),
              f"{name}: {what} is on the page", f"{len(told)} rows")
        return
    most = MOST_TOP if what in BY_TIME else MOST_ROWS
    if what in BY_TIME:
        told = sorted(told, key=lambda row: -row[BY_TIME[what]])
    check(len(rows) == min(most, len(told)), f"{name}: {what} has its rows", f"{len(rows)} of {len(told)}")
    wrong = list(wrong_rows(rows, told))
    check(not wrong, f"{name}: {what} is that of analyze", lambda: first(wrong))
    if len(told) > most:
        check(f"{most} of {len(told)} rows" in page.text, f"{name}: {what} says that it is cut")


def check_steps(name, page, told):
    """Each step over its ranks."""
    steps = collections.defaultdict(list)
    for row in told:
        steps[row["step"]].append((row["duration_ns"], row["rank"], row["warm_up"]))
    expected = []
    for step, all_of_it in sorted(steps.items()):
        lengths = sorted(length for length, _, _ in all_of_it)
        longest = next(rank for length, rank, _ in all_of_it if length == lengths[-1])
        expected.append({"step": step, "ranks": len(lengths), "shortest_ns": lengths[0], "median_ns": lengths[(len(lengths) - 1) // 2],
                         "longest_ns": lengths[-1], "longest_rank": longest, "warm_up": any(warm for _, _, warm in all_of_it)})
    rows = page.table("step_times") or []
    wrong = list(wrong_rows(rows, expected[:MOST_ROWS]))
    check(len(rows) == min(MOST_ROWS, len(expected)) and not wrong, f"{name}: each step over its ranks", lambda: first(wrong))


def check_waits(name, page, collectives):
    """Of each rank and communicator the waits of its collectives."""
    sums = collections.defaultdict(lambda: [0, 0])
    for row in collectives:
        if row["last_rank"] is None:  # of whom all ranks' starts are not known
            continue
        for wait in row["waits"]:
            if wait["wait_ns"] is not None:
                total = sums[wait["rank"], row["communicator"], row["description"], row["epoch"]]
                total[0] += 1
                total[1] += wait["wait_ns"]
    rows = page.table("waits") or []
    found = {tuple(row[key][0] for key in ("rank", "communicator", "description", "epoch")): [row[key][0] for key in ("collectives", "wait_ns")] for row in rows}
    check(len(found) == len(rows), f"{name}: a row for each rank and communicator", len(rows))
    if not rows:
        check(not any(wait_ns for _, wait_ns in sums.values()), f"{name}: nobody waited, and so no section says it", first(sums.items()))
        return
    kept = dict(sums) if len(sums) <= MOST_ROWS else {key: value for key, value in sums.items() if key in found}
    check(found == kept, f"{name}: waits are those of the collectives", lambda: first(set(map(str, found.items())) ^ set(map(str, kept.items()))))


def check_waits_for(name, page, collectives):
    """For which rank each rank waited."""
    sums = collections.Counter()
    for row in collectives:
        for wait in row["waits"] if row["last_rank"] is not None else ():
            if wait["wait_ns"] is not None and wait["rank"] != row["last_rank"]:
                sums[wait["rank"], row["last_rank"]] += wait["wait_ns"]
    rows = page.table("waits_for") or []
    found = {(row["rank"][0], row["for_rank"][0]): row["wait_ns"][0] for row in rows}
    check(len(rows) == MOST_ROWS or found == dict(sums), f"{name}: who waited for whom is that of the collectives", lambda: first(set(found.items()) ^ set(sums.items())))
    more = [row for row in rows if not 0 <= row["exposed_ns"][0] <= row["wait_ns"][0]]
    check(not more, f"{name}: no more of a wait is exposed than there is", lambda: first(more))


def mean_step(by_step, told):
    """What the mean step is made of: {part: ns}, and of how many rows; of the whole time if there are no steps."""
    def counting(rows, warm_ups):
        return [row for row in rows if row["device"] is not None and row.get("step") not in warm_ups]
    warm_ups = {row["step"] for row in told["steps"] if row["warm_up"]}
    for tables, without in ((by_step, warm_ups), (by_step, ()), (told, ())):
        gpus, idle = counting(tables.get("temporal", ()), without), counting(tables.get("idle", ()), without)
        if any(row["busy_ns"] for row in gpus):
            break
    sums = {key: sum(row[key] for row in gpus) for key in ("compute_ns", "exposed_comm_ns", "busy_ns", "span_ns")}
    sums.update({cause: sum(row[cause] for row in idle) for cause in IDLE})
    return sums, len(gpus)


def check_mean_step(options, name, page, paths, told):
    """The picture at the top: parts are means of the tables by step, and as wide as their share."""
    rows = page.table("mean_step")
    by_step = json_of(options, "analyze", *paths, "--only", "temporal,idle", "--by", "step", "--format", "json")
    sums, count = mean_step(by_step, told)
    if rows is None:
        check(not sums["span_ns"], f"{name}: GPU work has a picture", sums)
        return
    found = {row["part"][0]: row["mean_ns"][0] for row in rows}
    exposed = [ns for part, ns in found.items() if part.startswith(("exposed", "waiting for"))]
    causes = [ns for part, ns in found.items() if part.startswith("idle: ")]
    check(found.get("compute", 0) == sums["compute_ns"] // count, f"{name}: compute of the mean step", [found, sums])
    check(found.get("copies and memsets alone", 0) == (sums["busy_ns"] - sums["compute_ns"] - sums["exposed_comm_ns"]) // count, f"{name}: copies of the mean step", [found, sums])
    check(causes == [sums[cause] // count for cause in IDLE if sums[cause] > 0], f"{name}: idle time of the mean step by its cause", [found, sums])
    check(0 <= sums["exposed_comm_ns"] // count - sum(exposed) <= len(exposed), f"{name}: waits and transfer are the exposed communication", [found, sums])
    shares = [row["share_pct"][0] for row in rows]
    check(abs(sum(shares) - 100) < 1e-6, f"{name}: the parts are the step", shares)
    drawn = [place(box["width"]) for box in page.sections["mean-step"].all("svg") if box["class"] == "box"]
    check(len(drawn) == len(shares) and all(abs(width - max(share, 0.01)) < 0.006 for width, share in zip(drawn, shares)), f"{name}: parts are as wide as their shares", [drawn, shares])


def check_heat(name, page, told):
    """Each field is the step on the rank, relative to the step's median."""
    steps = collections.defaultdict(dict)
    for row in told:
        steps[row["step"]][f"rank {row['rank']}"] = row["duration_ns"]
    ranks = {rank for lengths in steps.values() for rank in lengths}
    fields = [box.first("title").text() for box in page.sections["steps"].all("svg") if box["class"] == "box" and box.first("rect")] if "steps" in page.sections else []
    if len(ranks) < 2 or len(steps) < 3 or any("phase" in row or row["rank"] is None for row in told):
        check(len(ranks) > 1 or not fields, f"{name}: one rank has no heat map", len(fields))
        return
    if len(ranks) > 64 or len(steps) > 40:
        return
    def percent(share):
        return f"{100 * share:+.1f} %" if round(1000 * share) else "0.0 %"
    wanted = {f"{rank}, step {step}: {percent(ns / sorted(lengths.values())[(len(lengths) - 1) // 2] - 1)}" for step, lengths in steps.items() for rank, ns in lengths.items()}
    check(set(fields) == wanted, f"{name}: the heat map has each step of each rank", lambda: first(set(fields) ^ wanted))


def check_flame(options, name, page, paths):
    """The flame graph is what `export --folded` writes, of all ranks together."""
    done = run([options.tracetool, "export", "--folded", *paths, "-o", "-"])
    lines = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
    several = len(paths) > 1 or any(path.startswith("rank ") for path, _ in lines)
    sums, prefixes = collections.Counter(), collections.Counter()
    for path, ns in lines:
        names = path.split(";")[1 if several else 0:]
        sums[";".join(names)] += int(ns)
        for depth in range(len(names)):
            prefixes[tuple(names[:depth + 1])] += int(ns)
    total = sum(sums.values())
    rows = page.table("flame")
    if rows is None:
        check(total == 0, f"{name}: GPU work has a flame graph", total)
        return
    wrong = [row for row in rows if sums[row["stack"][0]] != row["gpu_ns"][0]]
    check(not wrong and [row["gpu_ns"][0] for row in rows] == sorted(sums.values(), reverse=True)[:50], f"{name}: paths of the flame graph are those of export --folded", lambda: first(wrong))
    boxes = [(round(float(box["y"]) / 18), place(box["x"]), place(box["width"])) for box in page.sections["flame"].all("svg") if box["class"] == "box flame"]
    above = 0  # names that are not drawn, as all of the time is below them
    while sum(1 for names in prefixes if len(names) == above + 1) == 1 and any(len(names) > above + 1 for names in prefixes) and above < 100:
        above += 1
    shares = {(len(names) - 1, round(100 * ns / total, 2)) for names, ns in prefixes.items()}
    known = [any((row + skipped, width) in shares for skipped in range(above + 1)) for row, _, width in boxes]
    check(boxes and all(known), f"{name}: each box is as wide as the time below it", lambda: first(box for box, is_known in zip(boxes, known) if not is_known))
    rows_of = collections.defaultdict(list)
    for row, start, width in boxes:
        rows_of[row].append((start, width))
    over = [row for row, parts in rows_of.items() if any(a[0] + a[1] > b[0] + 0.03 for a, b in zip(sorted(parts), sorted(parts)[1:]))]
    check(not over, f"{name}: boxes of a row lie side by side", lambda: first(over))


def check_roofline(name, page, told):
    """A dot for each operator whose intensity and speed are known; the table is that of analyze."""
    known = [row for row in told if row["flop_per_byte"] and row["tflop_per_s"]]
    dots = [dot for dot in page.sections["roofline"].all("circle")] if "roofline" in page.sections else []
    check(len(dots) == min(200, len(known)), f"{name}: a dot for each operator of the roofline", [len(dots), len(known)])


def check_memory_by_step(options, name, page, paths):
    """A dot for each step whose memory is known, and the table of analyze by step."""
    if "memory" not in page.sections:
        return
    told = json_of(options, "analyze", *paths, "--only", "memory", "--by", "step", "--format", "json").get("memory", [])
    steps = {row["step"] for row in told if row["step"] is not None and row["peak_bytes"] is not None and row["device"] is not None}
    dots = [dot for dot in page.sections["memory"].all("circle")]
    check(len(dots) == (min(240, len(steps)) if len(steps) > 1 else 0), f"{name}: memory has a dot for each step", [len(dots), len(steps)])
    wrong = list(wrong_rows(page.table("memory_by_step") or [], told))
    check(not wrong and (page.table("memory_by_step") is not None) == (len(steps) > 1), f"{name}: memory by step is that of analyze", lambda: first(wrong))


def check_next(name, page, findings):
    """Without a serious finding the page says what to look at next."""
    says = "Next: compare" in page.sections["findings"].text()
    check(says == ("mean-step" in page.sections and all(finding["severity"] != "high" for finding in findings)), f"{name}: a next step if nothing serious was found", says)


def check_phases(name, page, told, steps):
    """Bars of forward, backward, optimizer are the means of the table."""
    warm_ups = {row["step"] for row in steps if row["warm_up"]}
    if "phases" not in page.sections or any("phase" in row or row["rank"] is None for row in told):
        return
    sums = collections.defaultdict(list)
    for row in [row for row in told if row["step"] not in warm_ups] or told:
        sums[f"rank {row['rank']}"].append([row[key] or 0 for key in (*PHASES, "comm_ns", "other_ns")])
    chart = Bars(next(svg for svg in page.sections["phases"].all("svg") if svg["role"] == "img"))
    unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[chart.axis.split(", ")[-1]]
    if len(sums) <= 64 and set(sums) == set(chart.bars):
        wrong = []
        for label, rows in sums.items():
            means = [mean for mean in (sum(parts) / len(rows) for parts in zip(*rows)) if mean > 0]
            drawn = [length * unit for _, length in chart.bars[label]]
            if len(drawn) != len(means) or any(abs(a - b) > max(chart.precision * unit * 6, 1) for a, b in zip(drawn, means)):
                wrong.append(f"{label}: {drawn} is not {means}")
        check(not wrong, f"{name}: bars of phases are as long as their figures", lambda: first(wrong))


def check_findings(name, page, told):
    section = page.sections["findings"]
    rules = [article["data-rule"] for article in section.all("article")]
    check(rules == [finding["rule"] for finding in told["findings"]], f"{name}: the findings are those of diagnose", rules)
    for article, finding in zip(section.all("article"), told["findings"]):
        text = article.text()
        saving = next(term["data-v"] for term in article.all("dd") if term["data-v"] is not None)
        links = [link["href"] for link in article.all("a")]
        wanted = [f"#t={each['start_ns']}-{each['end_ns']}" + ("" if each["rank"] is None else f"&rank={each['rank']}") for each in finding["evidence"]]
        there = all(escaped(finding[key]) in text for key in ("title", "advice", "severity", "next_command"))
        check(there and saving == ("" if finding["saving_ns"] is None else str(finding["saving_ns"])) and links == wanted,
              f"{name}: {finding['rule']} says what diagnose does", lambda: f"{saving}, {links}, {text[:300]}")


def check_bars(name, page, tables):
    """Each part of a bar is as long as its figure says: where there is a bar for each GPU."""
    gpus = tables["temporal"]
    labels = [f"rank {row['rank']}" for row in gpus]
    if not gpus or len(gpus) > 64 or len(set(labels)) < len(labels) or any("phase" in row or row["rank"] is None or row["span_ns"] is None for row in gpus):
        return
    charts = {"time": [[row["compute_ns"], row["exposed_comm_ns"], row["busy_ns"] - row["compute_ns"] - row["exposed_comm_ns"], row["idle_ns"]] for row in gpus],
              "idle": [[row[cause] for cause in IDLE] for row in tables["idle"]],
              "overlap": [[row["comm_ns"] - row["exposed_comm_ns"], row["exposed_comm_ns"]] for row in gpus] if any(row["comm_ns"] for row in gpus) else []}
    for section, values in charts.items():
        if not any(part for parts in values for part in parts):
            continue
        chart = Bars(next(svg for svg in page.sections[section].all("svg") if svg["role"] == "img"))
        unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[chart.axis.split(", ")[-1]]
        wrong = []
        for label, parts in zip(labels, values):
            drawn, known = [length * unit for _, length in chart.bars[label]], [part for part in parts if part > 0]
            slack = max(chart.precision * unit * 6, 1)
            if len(drawn) != len(known) or any(abs(a - b) > slack for a, b in zip(drawn, known)):
                wrong.append(f"{label}: {drawn} is not {known}")
        check(not wrong, f"{name}: bars of {section} are as long as their figures", lambda: first(wrong))


def check_form(name, page):
    """Nothing loads or runs, each chart says in words what it shows and has a table beside it, each link leads somewhere."""
    check(not page.forbidden(), f"{name}: nothing on the page loads or runs anything", lambda: first(page.forbidden()))
    missing = [section for section in ALWAYS if section not in page.sections]
    check(not missing, f"{name}: its sections", missing)
    empty = [name for name, section in page.sections.items() if name not in ALWAYS and not section.first("table")]
    check(not empty, f"{name}: no section is without content", empty)
    ids = [element["id"] for element in page.root.all() if element["id"] is not None]
    check(len(ids) == len(set(ids)), f"{name}: each id is there once", lambda: first(i for i in ids if ids.count(i) > 1))
    lost = [link["href"] for link in page.root.all("a") if link["href"][1:] not in ids and not re.fullmatch(r"#t=-?\d+--?\d+(&rank=\d+)?", link["href"])]
    check(not lost, f"{name}: links lead somewhere", lambda: first(lost))
    paints = [shape["fill"] for shape in page.root.all("rect") if (shape["fill"] or "").startswith("url(#")]
    check(all(paint[5:-1] in ids for paint in paints), f"{name}: patterns are on the page", lambda: first(paints))
    for section_id, section in page.sections.items():
        charts = [svg for svg in section.all("svg") if svg["role"] == "img"]
        unsaid = [svg for svg in charts if not (svg.first("title") and svg.first("desc") and svg.first("title").text() and svg.first("desc").text())]
        check(not unsaid, f"{name}: charts of {section_id} have a title and a description", len(unsaid))
        check(not charts or section.first("table"), f"{name}: {section_id} has a table, too")
    check(len(list(page.sections["summary"].all("p"))) in (1, 2, 3), f"{name}: the summary is three sentences, two of one GPU, one without GPU work")


def check_memory_over_time(options, name, page, paths):
    """A chart and the memory in use at the peak for the GPUs with the highest peaks. Returns the number of GPUs."""
    told = json_of(options, "mem", *paths, "--format", "json")
    fullest = sorted(told.get("devices", []), key=lambda row: -row["peak_bytes"])[:MOST_MEMORY_CHARTS]
    if "memory" not in page.sections:
        fullest = []
    expected = [[row for row in told["in_use"] if all(row[key] == gpu[key] for key in ("file", "rank", "device"))][:MOST_TOP]
                for gpu in told.get("devices", []) if gpu in fullest]
    tables = page.tables("in_use")
    wrong = [fault for rows, some in zip(tables, expected) for fault in wrong_rows(rows, some)]
    check([len(rows) for rows in tables] == [len(some) for some in expected] and not wrong, f"{name}: memory in use at the peak is that of mem",
          lambda: (len(tables), len(expected), first(wrong)))
    charts = [svg for svg in page.sections["memory"].all("svg") if svg.first("title") and svg.first("title").text() == "Memory in use over time by category"] if fullest else []
    check(len(charts) == len([gpu for gpu in fullest if gpu["peak_bytes"] > 0]), f"{name}: a chart of memory over time for each of these GPUs", len(charts))
    return len(charts)


def check_page(options, name, paths):
    """Returns the page where all of it could be looked at."""
    with Folder() as folder:
        page, done = report(options, folder, paths)
        told = json_of(options, "analyze", *paths, "--only", ",".join((*TABLES, "collectives", "roofline")), "--format", "json")
        if page is None or "failed" in told:
            check(page is None and "failed" in told and told["failed"].splitlines()[-1:] == done.stderr.splitlines()[-1:], f"{name}: report fails as analyze does", f"{done.stderr} {told}")
            return None
        for what in TABLES:
            check_table(name, what, page, told[what])
        check_steps(name, page, told["steps"])
        check_waits(name, page, told["collectives"])
        check_waits_for(name, page, told["collectives"])
        check_mean_step(options, name, page, paths, told)
        check_heat(name, page, told["steps"])
        check_phases(name, page, told["step_phases"], told["steps"])
        check_flame(options, name, page, paths)
        if "roofline" in page.sections:
            check_table(name, "roofline", page, told["roofline"])
        check_roofline(name, page, told["roofline"])
        check_memory_by_step(options, name, page, paths)
        page.memory_charts = check_memory_over_time(options, name, page, paths)
        check_bars(name, page, told)
        diagnosed = json_of(options, "diagnose", *paths, "--format", "json")
        check_findings(name, page, diagnosed)
        check_next(name, page, diagnosed["findings"])
        check_form(name, page)
        summary = run([options.tracetool, "analyze", *paths]).stdout
        first_sentence = page.sections["summary"].first("p").text()
        known = summary.splitlines()[0]
        check(first_sentence[:1].lower() + first_sentence[1:] == known + "." or first_sentence.startswith(known), f"{name}: the summary is that of analyze", f"{first_sentence} | {known}")
        return page


def check_traces(options):
    with folders(options.traces) as some:
        pages = [page for folder in some for name, files in inputs(folder) if (page := check_page(options, name, files)) is not None]
    check(len(pages) > 5, f"{len(pages)} sets were looked at")
    if os.path.isdir(options.traces):
        check(sum(page.memory_charts for page in pages) > 1, "some of them have memory over time")


def check_selection(options):
    """--ranks, --steps and --time are those of analyze; --step and --timeline-ranks of the timeline alone."""
    with Folder() as folder:
        made = [made_profiles.profile(f"{folder}/rank{rank}.json", steps=12, rank=rank, seed=rank) for rank in range(3)]
        for words in (["--ranks", "1-2"], ["--steps", "3-5"], ["--time", "20ms-60ms"]):
            page, _ = report(options, folder, made, *words)
            told = json_of(options, "analyze", *made, *words, "--only", "temporal,kernels", "--format", "json")
            check(page is not None, f"{words}: there is a page")
            check_table(" ".join(words), "temporal", page, told["temporal"])
            check_table(" ".join(words), "kernels", page, told["kernels"])
            check_findings(" ".join(words), page, json_of(options, "diagnose", *made, *words, "--format", "json"))
        many = made_profiles.profile(f"{folder}/many.json", steps=6, rank=3, kernels=[(f"kernel_{i}", 100_000 + i) for i in range(60)])
        page, _ = report(options, folder, [*made, many], "--ranks", "3", "--steps", "2-4")
        command = shlex.split(page.sections["kernels"].first("code").text())
        check(command[-6:] == ["--ranks", "3", "--steps", "2-4", "--only", "kernels"], "a table that is cut names the command with what was chosen", command)
        told = json_of(options, *command[1:], "--format", "json")
        check_table("the command of a table", "kernels", page, told["kernels"])
        page, _ = report(options, folder, made, "--step", 7, "--timeline-ranks", "0,2", "--title", "a <b>title</b> & more")
        check("7" in page.sections["timeline"].first("h2").text(), "--step is that of the timeline", page.sections["timeline"].first("h2").text())
        check(page.root.first("title").text() == page.root.first("h1").text() == "a <b>title</b> & more", "--title is the page's", page.root.first("title").text())
        for words, said in ((["--step", "99"], "99"), (["--timeline-ranks", "5"], "rank 5 is not in the trace"), (["--ranks", "9"], "--ranks 9")):
            page, done = report(options, folder, made, *words)
            check(page is None and done.returncode == 1 and said in done.stderr, f"{words}: refused", done.stderr)
        done = run([options.tracetool, "report", *map(os.path.abspath, made)], cwd=folder)
        name = done.stderr.split(": ")[0]
        check(done.returncode == 0 and name.endswith(".html") and os.path.exists(f"{folder}/{name}"), "without -o the page has the first input's name", done.stderr)
        again = run([options.tracetool, "report", *map(os.path.abspath, made)], cwd=folder)
        check(again.returncode == 1 and f"{name} exists" in again.stderr, "a page that exists is replaced only if it is named", again.stderr)
        done = run([options.tracetool, "report", *made, "-o", made[0]])
        check(done.returncode == 1 and "also an input" in done.stderr, "an input is not replaced", done.stderr)
        piped = run([options.tracetool, "report", *made, "-o", "-"])
        check(piped.returncode == 0 and piped.stdout.startswith("<!DOCTYPE html>") and piped.stdout.endswith("</html>\n"), "-o - is stdout", piped.stdout[:80])


HOSTILE = ["</script><script>alert(1)</script>", "\"><img src=x onerror=alert(2)>", "' onmouseover='alert(3)", "]]><svg/onload=alert(4)>", "<!--", "&lt;b&gt;&amp;",
           "a\u202e)(b\u2066c\u061cd", "\u0001\u0007\u001b[31m\u007f\u0085", "</title></desc></svg></td></table></section>", "javascript:alert(5)", "{{7*7}}`${1}`", "</style>x{}",
           "\ud800", "x" * 5000 + "<script>", "tab\tand\nline\rends", "-", "=1+1", "#t=0-1", "kernel<float, (int)3>"]


def check_hostile_names(options):
    with Folder() as folder:
        os.makedirs(f"{folder}/<script>alert(6)</script> & 'quoted'")
        path = f"{folder}/<script>alert(6)</script> & 'quoted'/rank0.json"
        made_profiles.profile(path, kernels=[(name + str(i), 100_000 + i) for i, name in enumerate(HOSTILE)], steps=6)
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        for i, name in enumerate(HOSTILE):
            trace["traceEvents"].append({"ph": "X", "cat": "user_annotation", "name": name, "pid": 100, "tid": 1, "ts": 2000 + 50 * i, "dur": 30, "args": {}})
            trace["traceEvents"].append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 100, "tid": 1, "ts": 2010 + 50 * i, "dur": 10, "args": {"Call stack": name}})
        trace["deviceProperties"] = [{"id": 0, "name": HOSTILE[0]}]
        trace["distributedInfo"]["pg_config"] = [{"pg_name": HOSTILE[1], "pg_desc": HOSTILE[2], "backend_config": HOSTILE[3], "pg_size": 2, "ranks": "[0, 1]"}]
        text = json.dumps(trace, ensure_ascii=True).encode()
        raw = text.replace(b"\"=1+1", b"\"\xff\xfe\xc0\xaf<b>")  # no UTF-8
        check(raw != text, "bytes that are no UTF-8 are in a name")
        with open(path, "wb") as file:
            file.write(raw)
        page, done = report(options, folder, [path], "--title", HOSTILE[0] + HOSTILE[8])
        check(page is not None, "hostile names: a page", done.stderr)
        check(not page.forbidden(), "hostile names: nothing on the page loads or runs anything", lambda: first(page.forbidden()))
        check(page.root.first("h1").text() == HOSTILE[0] + HOSTILE[8], "hostile names: the title", page.root.first("h1").text())
        tags = {element.tag for element in page.root.all()}
        check(not tags & {"b", "img", "iframe"}, "hostile names: no element of theirs", tags)
        told = json_of(options, "analyze", path, "--only", "kernels", "--format", "json")
        check_table("hostile names", "kernels", page, told["kernels"])
        check(not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u202e\u2066]", page.text), "hostile names: no control character, and none that turns text")
        compared = f"{folder}/diff.html"
        done = run([options.tracetool, "diff", path, "--a-steps", "0-2", "--b-steps", "3-", "--min-share", "0", "--html", compared])
        check(done.returncode == 0 and not ReportPage(compared).forbidden(), "hostile names: nothing on the page of a comparison loads or runs anything", done.stderr)
        found = {element.tag for element in ReportPage(compared).root.all()} & {"b", "img", "iframe"} if done.returncode == 0 else set()
        check(not found, "hostile names: no element of theirs in a comparison", found)
        data = next(script for script in page.root.all("script") if script["type"] == "application/json")
        names = json.dumps(json.loads(data.text()))
        check("alert(1)" in names, "hostile names: the timeline has them")


def check_little(options):
    """One rank, no steps, no GPU work, nothing at all."""
    with Folder() as folder:
        check_page(options, "one rank", [made_profiles.profile(f"{folder}/one.json", steps=5)])
        check_page(options, "no steps", [made_profiles.profile(f"{folder}/unnamed.json", steps=1, named=False)])
        events = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "args": {}}]
        synthesized_traces.write(f"{folder}/host.json", events, schemaVersion=1, distributedInfo={"rank": 0, "world_size": 1})
        check_page(options, "no GPU work", [f"{folder}/host.json"])


def check_known_waits(options):
    """Two ranks are late in turn: who waits for whom, how much of it is exposed, and what of the mean step is transfer, is known."""
    covered_ns, steps, transfer_ns = 100_000, 40, 1_200_000
    with Folder() as folder:
        true = made_late_job.job(folder, transfer_ns, steps)
        with open(f"{folder}/rank3.json", encoding="utf-8") as file:
            trace = json.load(file)
        waits = [event for event in trace["traceEvents"] if event["name"].startswith("nccl")]
        for i, event in enumerate(waits):  # compute that hides a part of each wait
            launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 1, "ts": event["ts"] - 1, "dur": 0.5, "args": {"correlation": 100_000 + i}}
            kernel = {**event, "name": "gemm_over_it", "tid": 11, "ts": event["ts"] + 10, "dur": covered_ns / 1000, "args": {"device": 0, "stream": 11, "correlation": 100_000 + i}}
            trace["traceEvents"] += [launch, kernel]
        with open(f"{folder}/rank3.json", "w", encoding="utf-8") as file:
            json.dump(trace, file)
        page, _ = report(options, folder, [folder])
        waited, exposed, culprits = collections.Counter(), collections.Counter(), collections.Counter()
        for row in page.table("waits_for"):
            waited[row["rank"][0]] += row["wait_ns"][0]
            exposed[row["rank"][0]] += row["exposed_ns"][0]
            culprits[row["for_rank"][0]] += row["wait_ns"][0]
        check(dict(waited) == true["waited"], "each rank waited as long as it was made to", [waited, true["waited"]])
        hidden = {rank: waited[rank] - exposed[rank] for rank in waited}
        check(hidden == {rank: covered_ns * steps if rank == 3 else 0 for rank in waited}, "what compute hides of a wait is not exposed", hidden)
        check(set(culprits) == set(made_late_job.LATE), "the others wait for the ranks that are late, and for no other", culprits)
        found = {row["part"][0]: row["mean_ns"][0] for row in page.table("mean_step")}
        check(found["exposed transfer"] == transfer_ns, "what is no wait is transfer", found)
        for rank in made_late_job.LATE:
            mean = sum(row["exposed_ns"][0] for row in page.table("waits_for") if row["for_rank"][0] == rank) // (made_late_job.RANKS * steps)
            check(found[f"waiting for rank {rank}"] == mean, f"the mean step says what is waited for rank {rank}", [found, mean])
        names = [text.text() for text in page.sections["stragglers"].all("text") if text["class"] == "culprit"]
        check(names == [str(rank) for rank in made_late_job.LATE], "the names of stragglers stand out", names)


def check_many(options):
    with Folder() as folder:
        synthesized_traces.job_ns(folder, ranks=512, steps=2)
        run([options.tracetool, "merge", folder, "-o", f"{folder}/run.ttrace"])
        page = check_page(options, "512 ranks", [f"{folder}/run.ttrace"])
        size = len(page.text.encode())
        check(size <= 10_000_000, "512 ranks: at most 10 MB", size)
        bars = Bars(next(svg for svg in page.sections["time"].all("svg") if svg["role"] == "img")).bars
        check(len(bars) <= 64 and "ranks 0-7" in bars and "mean of 8" in page.sections["time"].text(), "512 ranks: groups of ranks, and said so", list(bars)[:3])


def check_size_and_time(options):
    folder = f"{options.traces}/modded-nanogpt-8xh100"
    if not os.path.isdir(folder):
        return
    with Folder() as out:
        best = None
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            _, done = report(options, out, [folder])
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            best = min(spent, best or spent)
        size = os.path.getsize(f"{out}/report.html")
        check(done.returncode == 0 and size <= 2_000_000, f"8 ranks: {size} bytes, at most 2 MB", size)
        check(best <= 0.5 * SLOWNESS, f"8 ranks: {best:.2f} s of CPU time", best)


def check_simulated(options):
    """Losses and clocks, of recordings."""
    with Folder() as folder:
        train(options, folder, "--ranks", 4, "--steps", 60, "--hosts", 2, "--clock-offset-us", 300, TRACETOOL_BUFFER="128K")
        traces, merged = f"{folder}/traces", f"{folder}/run.ttrace"
        run([options.tracetool, "merge", traces, "-o", merged, "--report", f"{folder}/clocks.json"])
        check_page(options, "a simulated run", [merged])
        check_page(options, "recordings", [traces])
        page, _ = report(options, folder, [merged])
        told = json_of(options, "info", merged, "--json")
        wrong = list(wrong_rows(page.table("losses"), [{key: rank[key] for key in ("rank", "host", "pid", "state", "overwritten", "lost")} for rank in told["ranks"]]))
        check(not wrong and len(page.table("losses")) == 4, "losses are those of info", lambda: first(wrong))
        of_two, _ = report(options, folder, [merged], "--ranks", "2-3")
        ranks = [row["rank"][0] for row in of_two.table("losses")]
        check(ranks == [2, 3] and len(of_two.table("clocks")) == 1, "losses and clocks are of the ranks that are chosen", (ranks, of_two.table("clocks")))
        check(any(rank["overwritten"] > 0 for rank in told["ranks"]), "something was overwritten", told["ranks"][0]["overwritten"])
        with open(f"{folder}/clocks.json", encoding="utf-8") as file:
            hosts = json.load(file)["hosts"]
        expected = [{"host": host["host"], "offset_ns": host["offset_ns"], "samples": host["samples"], "mad_ns": host["mad_ns"], "bound_lo_ns": host["bound_ns"][0],
                     "bound_hi_ns": host["bound_ns"][1], "method": host["method"]} for host in hosts]
        wrong = list(wrong_rows(page.table("clocks"), expected))
        check(not wrong and len(page.table("clocks")) == len(hosts) > 1, "clocks are those of merge --report", lambda: first(wrong))
        check("aligned by collectives" in page.sections["clocks"].text(), "the clock error in a sentence", page.sections["clocks"].text()[:200])


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def check_colours(options):
    """Each colour of the palette stands out from the page behind it: 3:1, and 4.5:1 for text."""
    with Folder() as folder:
        page, _ = report(options, folder, [made_profiles.profile(f"{folder}/one.json", steps=3)])
        style = page.root.first("style").text()
        palettes = [dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root \{(.*?)\}", style, re.S)]
        check(len(palettes) == 3, "palettes for light, dark and paper", len(palettes))
        for palette in palettes:
            behind = luminance(palette["page"])
            for name, colour in palette.items():
                if name in ("page", "line", "raised"):
                    continue
                light, dark = sorted((luminance(colour), behind), reverse=True)
                contrast = (light + 0.05) / (dark + 0.05)
                check(contrast >= (4.5 if name in ("ink", "faint", "link") else 3), f"{name} {colour} on {palette['page']}: {contrast:.1f}:1")


def main():
    options = paths()
    check(hash_of(["a"]) == "'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='", "hashes are SHA-256")
    check_colours(options)
    check_little(options)
    check_hostile_names(options)
    check_selection(options)
    check_known_waits(options)
    check_many(options)
    check_traces(options)
    check_size_and_time(options)
    if options.agent and options.simulated:
        check_simulated(options)
    finish()


main()
