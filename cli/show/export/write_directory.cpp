#include "cli/show/export/write_directory.h"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_set>

#include "cli/show/export/file_names.h"
#include "cli/show/export/process_pieces.h"
#include "cli/base/output_file.h"
#include "cli/base/temporary_name.h"
#include "cli/trace/error.h"

namespace cli {
namespace {

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
                fmt::format("{} contains {}, which is not part of this export, but readers load all files there: "
                            "choose an empty directory with -o, or remove it",
                            directory, name));
  }
}

// Of an earlier export: readers would take them for ranks of this one.
void remove_old(const std::vector<std::string>& paths, ExportReport& report) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::remove(path, error)) report.notes.push_back(path + ": deleted, because it is from an earlier export");
    if (!error) continue;
    throw Error(Exit::cannot_open, fmt::format("{}: from an earlier export, but cannot be deleted: {}; delete it", path,
                                               error.message()));
  }
}

}  // namespace

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
