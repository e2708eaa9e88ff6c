#include "cli/formats/inputs/paths.h"

#include <glob.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/base/error.h"
#include "cli/base/text.h"
#include "cli/formats/nsys/reader.h"
#include "cli/formats/reading/reader.h"
#include "cli/formats/ring/spool_file.h"

namespace cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kEndings{".ring", ".ttrace", ".json", ".json.gz", ".json.zst", ".sqlite"};

std::string_view take_number(std::string_view& text) {
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  std::string_view number = text.substr(0, digits);
  text.remove_prefix(digits);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(Exit::cannot_open, path + ": " + what);
}

void add_directory(const std::string& directory, std::vector<std::string>& found) {
  std::error_code error;
  fs::recursive_directory_iterator at(directory, error), end;
  for (; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      if (name.starts_with('.')) at.disable_recursion_pending();
    } else if (is_trace_name(name) && at->is_regular_file(ignored)) {
      found.push_back(at->path().string());
    }
  }
  if (error) fail(directory, "cannot list this directory: " + error.message());
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t result{};
  std::vector<std::string> found;
  if (::glob(pattern.c_str(), 0, nullptr, &result) == 0)
    found.assign(result.gl_pathv, result.gl_pathv + result.gl_pathc);
  ::globfree(&result);
  return found;
}

// Returns true if `is_wanted` accepts the name of a file in a directory or below it.
bool contains(const std::string& directory, bool (*is_wanted)(std::string_view)) {
  std::error_code error;
  fs::recursive_directory_iterator at(directory, error), end;
  for (; !error && at != end; at.increment(error)) {
    if (is_wanted(at->path().native())) return true;
  }
  return false;
}

std::vector<FoundFile> expand(const std::string& path) {
  std::error_code ignored;
  const bool exists = fs::exists(path, ignored);
  const std::vector<std::string> roots = exists ? std::vector{path} : matches(path);
  if (roots.empty()) {
    const bool pattern = path.find_first_of("*?[") != std::string::npos;
    fail(path, pattern ? "no file matches this pattern; give trace files, directories or patterns"
                       : "no such file or directory; check the path (recordings are in $TRACETOOL_DIR, else ./traces)");
  }
  std::vector<FoundFile> found;
  for (const std::string& root : roots) {
    if (fs::is_directory(root, ignored)) {
      std::vector<std::string> files;
      add_directory(root, files);
      for (std::string& file : files) found.push_back({std::move(file), FoundBy::directory, root});
    } else if (exists) {
      found.push_back({readable_file(root), FoundBy::name, {}});
    } else if (fs::path(root).extension() != ".tmp") {
      found.push_back({readable_file(root), FoundBy::pattern, path});
    }
  }
  if (found.empty())
    fail(
        path,
        "no trace in this directory; expected *.ring, *.ttrace, *.json, *.json.gz, *.json.zst or *.sqlite in it or below; `tracetool doctor " +
            path + "` finds the reason" +
            (contains(path, is_snapshot_name) ? "; `tracetool mem " + path + "` reads the memory snapshots (*.pickle)"
                                              : "") +
            (contains(path, nsys::is_report_name) ? "; --with-nsys exports its reports of Nsight Systems (*.nsys-rep)"
                                                  : ""));
  std::sort(found.begin(), found.end(),
            [](const FoundFile& a, const FoundFile& b) { return natural_less(a.path, b.path); });
  return found;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const std::string_view x = take_number(a), y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else if (a[0] != b[0]) {
      return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() != b.empty() ? a.empty() : whole_a < whole_b;
}

bool is_snapshot_name(std::string_view name) {
  for (const std::string_view compression : {".gz", ".zst"}) {
    if (name.ends_with(compression)) name.remove_suffix(compression.size());
  }
  return name.ends_with(".pickle") || name.ends_with(".pkl");
}

bool is_trace_name(std::string_view name) {
  if (name.starts_with('.')) return false;
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

std::string readable_file(const std::string& path) {
  const std::string ring = ring::ring_of(path);
  std::error_code ignored;
  if (ring.empty()) return path;
  if (!fs::exists(ring, ignored))
    fail(path, "its recording " + ring + " is missing, which contains the names; copy both files");
  return ring;
}

std::vector<FoundFile> find_files(const std::vector<std::string>& paths) {
  std::vector<FoundFile> files;
  std::unordered_map<std::string, std::size_t> seen;  // a file given twice is read once
  for (const std::string& path : paths) {
    const FoundFile standard_input{path, FoundBy::name, {}};
    for (FoundFile& file : path == "-" ? std::vector{standard_input} : expand(path)) {
      std::error_code ignored;
      const auto [place, is_new] = seen.try_emplace(fs::weakly_canonical(file.path, ignored).string(), files.size());
      if (is_new)
        files.push_back(std::move(file));
      else if (file.by == FoundBy::name)
        files[place->second].by = FoundBy::name;
    }
  }
  return files;
}

std::vector<std::string> expand_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (FoundFile& file : find_files(paths)) names.push_back(std::move(file.path));
  return names;
}

}  // namespace cli
