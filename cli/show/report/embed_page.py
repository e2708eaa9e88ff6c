#!/usr/bin/env python3
"""embed_page.py FILE...: C++ with the styles (.css) and scripts (.js) of the report's page, each joined in this order, and their hashes
for its content security policy. An HTML parser would end a style or a script early at some texts: these are refused."""
import base64
import hashlib
import re
import sys

PIECE = 12_000  # bytes of one literal: compilers take at least 65,536


def joined(ending):
    text = ""
    for path in sys.argv[1:]:
        if path.endswith(ending):
            with open(path, encoding="utf-8") as file:
                text += file.read()
    if re.search(r"</(style|script)|<!--", text, re.I):
        sys.exit(f"embed_page.py: a file {ending} holds </style, </script or <!--")
    return text


def literals(text):
    """Raw strings side by side."""
    pieces = [text[at:at + PIECE] for at in range(0, len(text), PIECE)] or [""]
    assert ')page"' not in text
    return "\n".join(f'    R"page({piece})page"' for piece in pieces)


def main():
    print('#include "cli/show/report/page.h"\n\nnamespace cli::report {')
    for name, ending in (("Style", ".css"), ("Script", ".js")):
        text = joined(ending)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        print(f"const std::string_view kPage{name} =\n{literals(text)};")
        print(f"const std::string_view kPage{name}Hash = \"'sha256-{digest}'\";")
    print("}  // namespace cli")


main()
