// From what a user typed to files: expand_paths() of reader.h, and the order that people expect of numbered names.
#pragma once
#include <string>
#include <string_view>

namespace cli {

// rank2 before rank10: runs of digits compare as numbers, all else byte by byte. A strict weak order; total, because
// equal numbers of different spelling ("1", "01") fall back to the bytes.
bool natural_less(std::string_view a, std::string_view b);

// Is this how a trace's file is named? *.ring, *.ttrace, *.json, *.json.gz, *.json.zst; hidden files are not.
bool is_trace_name(std::string_view name);

// The file to read for `path`: X.ring for X.spool, which is nothing without it; any other path itself. Throws Error
// (cannot_open) where a spool is alone.
std::string readable_file(const std::string& path);

}  // namespace cli
