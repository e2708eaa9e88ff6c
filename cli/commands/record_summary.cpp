#include "cli/commands/record_summary.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <set>

#include "cli/doctor/checks.h"
#include "cli/doctor/output_directory.h"
#include "cli/base/text.h"
#include "cli/timeline/merge/runs.h"
#include "cli/base/error.h"
#include "cli/trace/losses.h"
#include "cli/trace/catalog.h"
#include "cli/formats/ring/ring_file.h"

namespace cli {
namespace {

struct Recorded {
  std::uint64_t recordings = 0, records = 0, overwritten = 0, lost = 0;
  std::set<std::string> runs;
  std::uint64_t removed_runs = 0;
  bool spools = false;
  int spool_error = 0;  // errno of a spool that ended early
};

void add(const RunFile& file, const std::string& run, Recorded& sum) {
  const Process& process = file.peek.processes[0];
  ++sum.recordings;
  sum.runs.insert(run);
  sum.overwritten += total(process.overwritten);
  sum.removed_runs += process.recorder.removed_runs;
  sum.lost += total(process.lost) + process.lost_unknown_kind;
  try {
    RingFile ring(file.path);
    sum.records += ring.count_records();
    const auto spool = static_cast<trace::SourceState>(ring.header().spool_state);
    sum.spools |= spool != trace::SourceState::off;
    if (spool == trace::SourceState::failed) sum.spool_error = ring.header().spool_error;
  } catch (const Error& error) {  // removed by a newer run, say
    print_line("tracetool: warning: {}", error.what());
  }
}

Recorded find_recorded(const std::string& directory, std::int64_t start_ns) {
  Recorded sum;
  std::vector<FoundFile> files;
  try {
    files = find_files({directory});
  } catch (const Error&) {  // there is no such directory, or nothing in it
    return sum;
  }
  for (const Run& run : list_runs(files).runs) {
    for (const RunFile& file : run.files) {
      const bool is_recording = file.peek.form == TracePeek::Form::recording && !file.peek.processes.empty();
      if (is_recording && file.peek.start_ns >= start_ns) add(file, run.name, sum);
    }
  }
  return sum;
}

std::string keeps_more(const Recorded& sum) {
  if (sum.spool_error != 0) return fmt::format("the spool ended early: {}", std::strerror(sum.spool_error));
  return sum.spools ? "the spool was too slow; a larger --buffer keeps more" : "a larger --buffer keeps more, --mode spool keeps all";
}

std::string losses(const Recorded& sum) {
  std::string text;
  if (sum.overwritten > 0) text = fmt::format("{} overwritten ({})", sum.overwritten, keeps_more(sum));
  if (sum.lost > 0) text += fmt::format("{}{} lost", text.empty() ? "" : ", ", sum.lost);
  return text.empty() ? "none lost" : text;
}

std::vector<std::string> why_nothing(const std::string& directory) {
  const std::string no_room = why_no_room(directory);
  std::vector<std::string> lines{
      no_room.empty() ? fmt::format("{} has no new recording: no process used the GPU, or the agent printed the reason on stderr", directory)
                      : fmt::format("{} has no new recording: {}", directory, no_room)};
  for (const CheckResult& result : check_machine(directory)) {
    if (result.level == Level::ok || (result.check == "directory" && !no_room.empty())) continue;
    lines.push_back(fmt::format("doctor: {}: {}{}{}", result.check, result.what, result.next.empty() ? "" : " -> ",
                                result.next));
  }
  lines.emplace_back("next: tracetool doctor PID  # while the program runs; PID is its process id");
  return lines;
}

}  // namespace

std::string why_no_room(const std::string& directory) {
  for (const CheckResult& result : check_output_directory(directory, ring_bytes_wanted())) {
    if (result.level == Level::fail) return fmt::format("{}; {}", result.what, result.next);
  }
  return {};
}

std::vector<std::string> record_summary(const std::string& directory, std::int64_t start_ns) {
  const Recorded sum = find_recorded(directory, start_ns);
  if (sum.recordings == 0) return why_nothing(directory);
  const bool one_run = sum.runs.size() == 1;
  const std::string where = one_run ? directory + "/" + *sum.runs.begin() : directory;
  std::vector<std::string> lines{fmt::format("{} in {}: {}, {}", count_text(sum.recordings, "recording"), where, count_text(sum.records, "record"), losses(sum))};
  if (sum.removed_runs > 0) lines.push_back(removed_runs_text(sum.removed_runs));
  lines.push_back(fmt::format("next: tracetool {}", shell_word(where)));
  return lines;
}

bool is_further_rank() {
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", "PMIX_RANK"}) {
    const char* rank = std::getenv(name);
    if (rank != nullptr) return std::strcmp(rank, "0") != 0;
  }
  return false;
}

}  // namespace cli
