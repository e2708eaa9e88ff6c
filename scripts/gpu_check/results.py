"""results.json and the page that is read, results.md."""
import json
import os


def write(folder, results):
    for name, text in (("results.json", json.dumps(results, indent=1) + "\n"), ("results.md", page(results))):
        with open(os.path.join(folder, name + ".new"), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(os.path.join(folder, name + ".new"), os.path.join(folder, name))


def skipped(name, reason):
    """The result of a part that was not begun."""
    return {"name": name, "status": "skipped", "reason": reason, "began": "", "seconds": 0.0, "checks": [], "figures": []}


def earlier(folder, results):
    """The parts of an earlier run into the same folder on the same machine."""
    try:
        with open(os.path.join(folder, "results.json"), encoding="utf-8") as file:
            before = json.load(file)
    except (OSError, ValueError):
        return []
    same = before.get("simulated") == results["simulated"] and before["machine"].get("gpu") == results["machine"]["gpu"]
    results["machine"]["cupti"] = before["machine"].get("cupti", "unknown") if same else results["machine"]["cupti"]
    return before["parts"] if same else []


def put(parts, part, order):
    """The parts with this one in its place. One that was skipped does not replace what an earlier run found."""
    old = next((each for each in parts if each["name"] == part["name"]), None)
    if old and part["status"] == "skipped" != old["status"]:
        return parts
    return sorted([each for each in parts if each is not old] + [part], key=lambda each: order.index(each["name"]))


def page(results):
    lines = [f"# gpu_check, {results['date']}", ""]
    if results["simulated"]:
        lines += ["**SIMULATED: no GPU was used. The figures below are of stand-ins and mean nothing; the checks say only "
                  "that the parts themselves work.**", ""]
    lines += ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in results["machine"].items()), "",
              "| part | status | began | seconds | checks | reason |", "|---|---|---|---|---|---|"]
    lines += [row(part) for part in results["parts"]]
    for part in results["parts"]:
        lines += details(part)
    return "\n".join(lines) + "\n"


def row(part):
    held = sum(check["ok"] for check in part["checks"])
    return f"| {part['name']} | {part['status']} | {part.get('began', '')} | {part['seconds']} | " \
           f"{held} of {len(part['checks'])} | " \
           f"{cell(part['reason'])} |"


def details(part):
    lines = []
    if part["checks"] or part["figures"]:
        lines += ["", f"## {part['name']}", ""]
    lines += [f"- {'ok' if check['ok'] else '**FAILED**'}: {check['what']}"
              + (f" ({cell(check['evidence'][:300])})" if check["evidence"] else "") for check in part["checks"]]
    lines += [f"- note: {cell(note)}" for note in part.get("notes", [])]
    if part["figures"]:
        lines += ["", "| figure | value | runs | smallest to largest | 95 % interval |", "|---|---|---|---|---|"]
        lines += [f"| {figure['name']} | {number(figure['value'])} {figure['unit']} | {figure['runs']} | "
                  f"{span(figure['spread'])} | {span(figure['interval'])} |" for figure in part["figures"]]
    return lines


def number(value):
    return f"{value:,}" if isinstance(value, int) else "unknown" if value is None else f"{value:.4g}"


def span(ends):
    return f"{number(ends[0])} to {number(ends[1])}" if ends else ""


def cell(text):
    return str(text).replace("\n", " ").replace("|", "\\|")


def summary(parts):
    """The last lines on stdout."""
    for part in parts:
        yield f"{part['name']:13} {part['status']:8} {part['seconds']:6.1f} s  {part['reason']}"
