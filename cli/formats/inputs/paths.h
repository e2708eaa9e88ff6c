// From what a user typed to files, and the order that people expect of numbered names.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// How a file came to be an input: what a user named must be a trace; what was only found may be something else.
enum class FoundBy : std::uint8_t { name, pattern, directory };

struct FoundFile {
  std::string path;
  FoundBy by = FoundBy::name;
  std::string root;  // the directory or the pattern by which it was found, as typed; "" where it was named
};

// Files, directories (all trace names below, in natural order) and globs to files, each file once, however often and
// through whatever links it was reached. Throws Error (cannot_open) when one of `paths` matches nothing.
std::vector<FoundFile> find_files(const std::vector<std::string>& paths);

// The paths of find_files() alone.
std::vector<std::string> expand_paths(const std::vector<std::string>& paths);

// rank2 before rank10: runs of digits compare as numbers, all else byte by byte. A strict weak order; total, because
// equal numbers of different spelling ("1", "01") fall back to the bytes.
bool natural_less(std::string_view a, std::string_view b);

// Is this how a trace's file is named? *.ring, *.ttrace, *.json, *.json.gz, *.json.zst; hidden files are not.
bool is_trace_name(std::string_view name);

// The file to read for `path`: X.ring for X.spool, which is nothing without it; any other path itself. Throws Error
// (cannot_open) where a spool is alone.
std::string readable_file(const std::string& path);

}  // namespace cli
