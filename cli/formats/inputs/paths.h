// Finds the files for the paths given by a user, and sorts numbered names naturally.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// The way in which a file was found. A file named by the user has to be a trace; a file that was only found may be
// something else.
enum class FoundBy : std::uint8_t { name, pattern, directory };

struct FoundFile {
  std::string path;
  FoundBy by = FoundBy::name;
  std::string root;  // the directory or pattern that found it, as typed; "" if it was named
};

// Expands files, directories (all trace names below, in natural order) and globs to files. Each file occurs once, even
// if it was reached repeatedly or through links. Throws Error (cannot_open) if one of `paths` matches nothing.
std::vector<FoundFile> find_files(const std::vector<std::string>& paths);

// Returns only the paths of find_files().
std::vector<std::string> expand_paths(const std::vector<std::string>& paths);

// Compares runs of digits as numbers and other text byte by byte: rank2 is before rank10. A strict weak order; it is
// total, because equal numbers of different spelling ("1", "01") are compared by bytes.
bool natural_less(std::string_view a, std::string_view b);

// Returns true for names of trace files: *.ring, *.ttrace, *.json, *.json.gz, *.json.zst, *.sqlite; false for hidden files.
bool is_trace_name(std::string_view name);
// Returns true for names of memory snapshots of PyTorch: *.pickle, *.pkl, also with .gz or .zst.
bool is_snapshot_name(std::string_view name);

// Returns the file to read for `path`: X.ring for X.spool, which cannot be read without it; otherwise `path`. Throws
// Error (cannot_open) if a spool has no ring.
std::string readable_file(const std::string& path);

}  // namespace cli
