#include "cli/export/parts/old_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "cli/export/parts/file_names.h"

namespace cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_beside(const std::string& output) {
  std::vector<std::string> names;
  std::error_code error;
  const fs::path folder = fs::path(output).parent_path();
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string old_parts_note(const std::string& output, const std::vector<std::string>& written) {
  std::unordered_set<std::string> ours;
  for (const std::string& path : written) ours.insert(fs::path(path).filename().string());
  const std::string whole = fs::path(output).filename().string();
  std::vector<std::string> old;
  for (const std::string& name : names_beside(output)) {
    if (ours.count(name) == 0 && (name == whole || is_part_of(name, whole))) old.push_back(name);
  }
  if (old.empty()) return "";
  const std::string more = old.size() > 1 ? fmt::format(" and {} more are", old.size() - 1) : " is";
  return fmt::format("{}{} of an earlier export under this name, not of this one: remove what you do not need",
                     (fs::path(output).parent_path() / old[0]).string(), more);
}

}  // namespace cli
