"""results.json and the page that is read, results.md."""
import json
import os


def write(folder, results):
    for name, text in (("results.json", json.dumps(results, indent=1) + "\n"), ("results.md", page(results))):
        with open(os.path.join(folder, name + ".new"), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(os.path.join(folder, name + ".new"), os.path.join(folder, name))


def page(results):
    lines = [f"# gpu_check, {results['date']}", ""]
    if results["simulated"]:
        lines += ["**SIMULATED: no GPU was used. The figures below are of stand-ins and mean nothing; the checks say only "
                  "that the parts themselves work.**", ""]
    lines += ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in results["machine"].items()), "",
              "| part | status | seconds | checks | reason |", "|---|---|---|---|---|"]
    lines += [row(part) for part in results["parts"]]
    for part in results["parts"]:
        lines += details(part)
    return "\n".join(lines) + "\n"


def row(part):
    held = sum(check["ok"] for check in part["checks"])
    return f"| {part['name']} | {part['status']} | {part['seconds']} | {held} of {len(part['checks'])} | " \
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


def summary(results):
    """The last lines on stdout."""
    for part in results["parts"]:
        yield f"{part['name']:13} {part['status']:8} {part['seconds']:6.1f} s  {part['reason']}"
