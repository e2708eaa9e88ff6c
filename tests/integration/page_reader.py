"""A page of `tracetool report`, read with Python's own parser: its sections, tables, charts and links, and what is not allowed on it."""
import base64
import hashlib
import html.parser
import re

VOID = {"meta", "link", "br", "img", "input", "hr"}  # and what SVG closes itself


class Element:
    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.children, self.parent = tag, dict(attributes), [], None

    def __getitem__(self, name):
        return self.attributes.get(name)

    def all(self, *tags):
        """Elements below it, in their order."""
        for child in self.children:
            if isinstance(child, Element):
                if not tags or child.tag in tags:
                    yield child
                yield from child.all(*tags)

    def first(self, tag):
        return next(self.all(tag), None)

    def text(self):
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = self.at = Element("", [])
        self.faults = []

    def add(self, tag, attributes):
        element = Element(tag, attributes)
        element.parent = self.at
        self.at.children.append(element)
        return element

    def handle_starttag(self, tag, attributes):
        element = self.add(tag, attributes)
        if tag not in VOID:
            self.at = element

    def handle_startendtag(self, tag, attributes):
        self.add(tag, attributes)

    def handle_endtag(self, tag):
        if self.at.tag != tag:
            self.faults.append(f"</{tag}> closes <{self.at.tag}>")
            return
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.children.append(data)


class ReportPage:
    """A page's elements (`root`), and what its tables say."""

    def __init__(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            self.text = file.read()
        reader = Reader()
        reader.feed(self.text)
        reader.close()
        self.root, self.faults = reader.root, reader.faults
        if reader.at is not reader.root:
            self.faults.append(f"<{reader.at.tag}> is not closed")
        self.sections = {section["id"]: section for section in self.root.all("section")}

    def table(self, name):
        """[{key: (exact, shown)}] of the rows of a table, or None: exact is the number, the whole text or None for what is unknown."""
        return next(iter(self.tables(name)), None)

    def tables(self, name):
        """The same of all tables of this name."""
        found = []
        for table in self.root.all("table"):
            if table["data-table"] == name:
                keys = [head["data-key"] for head in table.first("thead").all("th")]
                found.append([dict(zip(keys, map(cell, row.all("td")))) for row in table.first("tbody").all("tr")])
        return found

    def forbidden(self):
        """What would load, run or send something, or needs what the policy forbids."""
        found = list(self.faults)
        for element in self.root.all():
            for name, value in element.attributes.items():
                if name.startswith("on") or name in ("style", "srcdoc", "action", "formaction", "xlink:href"):
                    found.append(f"<{element.tag} {name}>")
                if name in ("src", "href", "data") and not (value.startswith("#") or value == "data:,"):
                    found.append(f"<{element.tag} {name}={value[:40]}>")
            if element.tag in ("img", "iframe", "object", "embed", "base", "form", "video", "audio", "use", "image", "foreignobject", "animate", "set"):
                found.append(f"<{element.tag}>")
        policy = next(meta["content"] for meta in self.root.all("meta") if meta["http-equiv"] == "Content-Security-Policy")
        styles = [element.text() for element in self.root.all("style")]
        scripts = [element.text() for element in self.root.all("script") if element["type"] is None]
        data = [element for element in self.root.all("script") if element["type"] is not None]
        found += [f"a script of type {element['type']}" for element in data if element["type"] != "application/json"]
        wanted = f"default-src 'none'; img-src data:; style-src {hash_of(styles)}; script-src {hash_of(scripts)}; base-uri 'none'; form-action 'none'"
        if policy != wanted or len(styles) != 1 or len(scripts) != 1:
            found.append(f"a policy {policy} for {len(styles)} styles and {len(scripts)} scripts, where it would be {wanted}")
        return found


def hash_of(texts):
    return "'sha256-" + base64.b64encode(hashlib.sha256("".join(texts).encode()).digest()).decode() + "'"


def cell(element):
    shown = element.text()
    if element["data-v"] is not None:
        value = element["data-v"]
        return (int(value) if re.fullmatch(r"-?\d+", value) else float(value)), shown
    whole = element["title"] if element["title"] is not None else shown
    return (None if whole == "-" else whole), shown


def escaped(text):
    """A name as the page shows it: control and misleading characters are escapes."""
    def escape(found):
        code = ord(found[0])
        return {"\t": "\\t", "\n": "\\n", "\r": "\\r"}.get(found[0]) or (f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}")
    return re.sub("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", escape, text)


def same(exact, value):
    """Whether a cell is a value of JSON."""
    if value is None or isinstance(value, (int, float)) and not isinstance(value, bool):
        return exact == value
    if isinstance(value, bool):
        return exact == ("yes" if value else "no")
    if isinstance(value, list):
        return exact == "x".join(map(str, value))
    return exact == escaped(value)


def place(text):
    """A place across a chart, in percent or pixels."""
    return float(text.rstrip("%"))


class Bars:
    """A bar chart, measured: {label: [length of each part that is drawn]}, in the unit of the axis."""

    def __init__(self, svg):
        ticks = [(place(text["x"]), text.text()) for text in svg.all("text") if text["class"] == "tick"]
        lines = [place(line["x1"]) for line in svg.all("line") if line["class"] == "grid"]
        numbers = [float(text) for _, text in ticks[:len(lines)]]
        scale = (numbers[-1] - numbers[0]) / (lines[-1] - lines[0])
        self.axis = ticks[len(lines)][1]
        self.precision = scale * 0.02
        self.bars = {}
        for group in svg.all("g"):
            label = group.first("title").text().split(":")[0]
            self.bars[label] = [(rect["fill"], place(rect["width"]) * scale) for rect in group.all("rect")]
