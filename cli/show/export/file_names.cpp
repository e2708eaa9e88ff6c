#include "cli/show/export/file_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace cli {
namespace {

// Where ".json.gz", ".pftrace" ... begin; the end where there is no such ending.
std::size_t ending(const std::string& path) {
  for (const std::string_view known :
       {".pt.trace.json.gz", ".pt.trace.json", ".json.gz", ".json", ".pftrace.gz", ".pftrace", ".gz", ".tar"}) {
    const std::size_t at = path.size() - std::min(known.size(), path.size());
    if (at > 0 && path[at - 1] != '/' && std::string_view(path).substr(at) == known) return at;
  }
  return path.size();
}

// What may be in a file's name anywhere.
std::string plain(std::string_view text) {
  std::string name(text);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c > '~' || c == '/' || c == '\\' || c == ' '; },
      '_');
  return name.substr(0, 60);
}

std::string name_of(const Process& process) {
  if (process.rank < 0) {
    const std::string file = process.source.substr(process.source.find_last_of('/') + 1);
    return plain(file.substr(0, std::max<std::size_t>(file.find('.'), 1)));
  }
  const std::string rank = fmt::format("rank{}", process.rank);
  return process.phase.empty() ? rank : rank + '-' + plain(process.phase);
}

}  // namespace

std::string part_name(const std::string& output, std::size_t number, std::size_t count) {
  const std::size_t at = ending(output);
  const std::size_t digits = std::to_string(count).size();
  return fmt::format("{}.segment{:0{}}{}", output.substr(0, at), number, digits, output.substr(at));
}

bool is_part_name(std::string_view file_name, const std::string& output) {
  const std::string stem = output.substr(output.find_last_of('/') + 1, ending(output) - (output.find_last_of('/') + 1)) + ".segment";
  const std::string end = output.substr(ending(output));
  if (file_name.size() <= stem.size() + end.size() || !file_name.starts_with(stem) || !file_name.ends_with(end)) return false;
  return file_name.substr(stem.size(), file_name.size() - stem.size() - end.size()).find_first_not_of("0123456789") == file_name.npos;
}

std::vector<std::string> process_file_names(const Catalog& catalog, std::string_view extension) {
  std::vector<std::string> names;
  std::unordered_set<std::string> taken;
  for (const Process& process : catalog.processes) {
    const std::string wanted = name_of(process);
    std::string name = wanted;
    for (int number = 2; !taken.insert(name).second; ++number) name = fmt::format("{}-{}", wanted, number);
    names.push_back(name.append(extension));
  }
  return names;
}

}  // namespace cli
