#!/usr/bin/env python3
"""Write a C++ header with the names of CUPTI's callback ids and results, from the CUDA headers.

usage: callback_names.py OUTPUT INCLUDE_FOLDER...
"""
import os
import re
import sys


def read(folders, name):
    path = next(f"{folder}/{name}" for folder in folders if os.path.exists(f"{folder}/{name}"))
    with open(path, encoding="utf-8") as file:
        return file.read()


def table(text, prefix, variable):
    found = {int(number): name for name, number in re.findall(rf"{prefix}(\w+)\s*=\s*(\d+)", text)}
    size = next(number for number, name in found.items() if name == "SIZE")
    names = ",\n    ".join(f'"{found[i]}"' if i in found else "nullptr" for i in range(size))
    return f"inline constexpr const char* {variable}[] = {{\n    {names}}};\n"


def results(text):
    rows = [(int(number), name) for name, number in re.findall(r"(CUPTI_\w+)\s*=\s*(\d+),", text)]
    body = "".join(f'    {{{number}, "{name}"}},\n' for number, name in rows)
    return ("struct ResultName {\n  int result;\n  const char* name;\n};\n"
            f"inline constexpr ResultName kResultNames[] = {{\n{body}}};\n")


def main():
    output, folders = sys.argv[1], sys.argv[2:]
    parts = ["#pragma once\n\nnamespace sim {\n",
             table(read(folders, "cupti_driver_cbid.h"), "CUPTI_DRIVER_TRACE_CBID_", "kDriverNames"),
             table(read(folders, "cupti_runtime_cbid.h"), "CUPTI_RUNTIME_TRACE_CBID_", "kRuntimeNames"),
             results(read(folders, "cupti_result.h")), "}  // namespace sim\n"]
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(parts))


if __name__ == "__main__":
    main()
