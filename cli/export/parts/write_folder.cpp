#include "cli/export/parts/write_folder.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <unordered_set>

#include "cli/export/parts/file_names.h"
#include "cli/export/parts/process_pieces.h"
#include "cli/io/output_file.h"
#include "cli/model/error.h"

namespace cli {
namespace {

namespace fs = std::filesystem;

bool is_trace(const std::string& name) {
  static constexpr std::array<std::string_view, 4> kEndings{".json", ".json.gz", ".json.zst", ".pftrace"};
  for (const std::string_view ending : kEndings) {
    if (name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0)
      return true;
  }
  return false;
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (fs::is_directory(folder)) return;
  throw Error(Exit::cannot_open, fmt::format("{}: cannot make this directory: {}; name another with -o", folder,
                                             error ? error.message() : "it is a file"));
}

void refuse_others(const std::string& folder, const std::vector<std::string>& ours) {
  const std::unordered_set<std::string> names(ours.begin(), ours.end());
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (names.count(name) != 0 || !is_trace(name)) continue;
    throw Error(Exit::usage,
                fmt::format("{} holds {}, which is not of this export, and readers take all that is there: "
                            "choose an empty directory with -o, or remove it",
                            folder, name));
  }
}

// Of an earlier export: readers would take them for ranks of this one.
void remove_old(const std::vector<std::string>& paths, ExportReport& report) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::remove(path, error)) report.notes.push_back(path + " was of an earlier export: removed");
    if (!error) continue;
    throw Error(Exit::cannot_open, fmt::format("{}: of an earlier export, and cannot be removed: {}; remove it", path,
                                               error.message()));
  }
}

}  // namespace

ExportReport write_folder(const ExportJob& job, const std::string& folder) {
  std::vector<std::string> names = process_file_names(*job.catalog, job.format->extension);
  make_folder(folder);
  std::vector<std::string> chosen;
  for (ProcessId id = 0; id < names.size(); ++id) {
    if (job.selector->has(id)) chosen.push_back(names[id]);
  }
  refuse_others(folder, chosen);
  ExportReport report;
  Placement together;
  std::vector<std::string> empty;
  const auto path = [&](ProcessId id) { return (fs::path(folder) / names[id]).string(); };
  write_processes(job,
                  {[&](ProcessId id) { return open_output(path(id), &together); },
                   [&](ProcessId id, const Piece& piece) {
                     if (piece.dropped()) return empty.push_back(path(id));
                     report.files.push_back({path(id), piece.bytes(), piece.events(), job.catalog->processes[id].rank});
                   }},
                  report);
  together.place();
  remove_old(empty, report);
  return report;
}

}  // namespace cli
