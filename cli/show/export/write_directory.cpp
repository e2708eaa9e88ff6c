#include "cli/show/export/write_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "cli/base/error.h"
#include "cli/base/files.h"
#include "cli/show/export/pieces.h"

namespace cli {

namespace {

// Returns the position of the extension (".json.gz", ".pftrace", ...); the end if there is none.
std::size_t ending(const std::string& path) {
  std::vector<std::string> known{".gz", ".tar"};
  for (const ExportFormat& format : export_formats()) {
    known.emplace_back(ending_of(format));
    known.push_back(known.back() + ".gz");
  }
  std::size_t first = path.size();
  for (const std::string& each : known) {
    const std::size_t at = path.size() - std::min(each.size(), path.size());
    if (at > 0 && at < first && path[at - 1] != '/' && path.ends_with(each)) first = at;
  }
  return first;
}

// Replaces characters that are not portable in file names.
std::string plain(std::string_view text) {
  std::string name(text);
  std::ranges::replace_if(
      name, [](unsigned char c) { return c < ' ' || c > '~' || c == '/' || c == '\\' || c == ' '; }, '_');
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

namespace fs = std::filesystem;

bool is_trace(const std::string& name) {
  const auto ends_name = [&](std::string_view ending) { return name.size() > ending.size() && name.ends_with(ending); };
  return ends_name(".json") || ends_name(".json.gz") || ends_name(".json.zst") || ends_name(".pftrace");
}

void refuse_others(const std::string& directory, const std::vector<std::string>& ours) {
  const std::unordered_set<std::string> names(ours.begin(), ours.end());
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (names.count(name) != 0 || !is_trace(name)) continue;
    throw Error(Exit::usage,
                "{} contains {}, which is not part of this export, but readers load all files there: "
                "choose an empty directory with -o, or remove it",
                directory, name);
  }
}

// Files of an earlier export: readers would take them for ranks of this one.
void remove_old(const std::vector<std::string>& paths, ExportReport& report) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::remove(path, error)) report.notes.push_back(path + ": deleted, because it is from an earlier export");
    if (!error) continue;
    throw Error(Exit::cannot_open, "{}: from an earlier export, but cannot be deleted: {}; delete it", path,
                error.message());
  }
}

}  // namespace

std::string part_name(const std::string& output, std::size_t number, std::size_t count) {
  const std::size_t at = ending(output);
  const std::size_t digits = std::to_string(count).size();
  return fmt::format("{}.segment{:0{}}{}", output.substr(0, at), number, digits, output.substr(at));
}

bool is_part_name(std::string_view file_name, const std::string& output) {
  const std::string stem =
      output.substr(output.find_last_of('/') + 1, ending(output) - (output.find_last_of('/') + 1)) + ".segment";
  const std::string end = output.substr(ending(output));
  if (file_name.size() <= stem.size() + end.size() || !file_name.starts_with(stem) || !file_name.ends_with(end))
    return false;
  return file_name.substr(stem.size(), file_name.size() - stem.size() - end.size()).find_first_not_of("0123456789") ==
         file_name.npos;
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

ExportReport write_directory(const ExportJob& job, const std::string& directory) {
  std::vector<std::string> names = process_file_names(*job.catalog, job.format->extension);
  const NewDirectory made(directory);
  std::vector<std::string> chosen;
  for (ProcessId id = 0; id < names.size(); ++id) {
    if (job.selector->has(id)) chosen.push_back(names[id]);
  }
  refuse_others(directory, chosen);
  ExportReport report;
  Placement together;
  std::vector<std::string> empty;
  const auto path = [&](ProcessId id) { return (fs::path(directory) / names[id]).string(); };
  write_processes(job,
                  {[&](ProcessId id) { return open_output(path(id), &together); },
                   [&](ProcessId id, const Piece& piece) {
                     if (piece.dropped()) return empty.push_back(path(id));
                     report.files.push_back({path(id), piece.bytes(), piece.events(), job.catalog->processes[id].rank});
                   }},
                  report);
  put_in_place(together);
  remove_old(empty, report);
  return report;
}

}  // namespace cli
