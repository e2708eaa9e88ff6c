#include "cli/commands/record_summary.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <set>

#include "cli/doctor/checks.h"
#include "cli/io/shell_word.h"
#include "cli/io/units.h"
#include "cli/io/visible_text.h"
#include "cli/merge/runs.h"
#include "cli/model/error.h"
#include "cli/model/totals.h"
#include "cli/read/ring_file.h"

namespace cli {
namespace {

struct Recorded {
  std::uint64_t recordings = 0, records = 0, overwritten = 0, lost = 0;
  std::set<std::string> runs;
};

void add(const RunFile& file, const std::string& run, Recorded& sum) {
  const Process& process = file.peek.processes[0];
  ++sum.recordings;
  sum.runs.insert(run);
  sum.overwritten += total(process.overwritten);
  sum.lost += total(process.lost) + process.lost_unknown_kind;
  try {
    sum.records += RingFile(file.path).count_records();
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

std::string losses(const Recorded& sum) {
  std::string text;
  if (sum.overwritten > 0) {
    text = fmt::format("{} overwritten (--buffer SIZE keeps more, --mode spool all)", sum.overwritten);
  }
  if (sum.lost > 0) text += fmt::format("{}{} lost", text.empty() ? "" : ", ", sum.lost);
  return text.empty() ? "none lost" : text;
}

std::vector<std::string> why_nothing(const std::string& directory) {
  std::vector<std::string> lines{
      fmt::format("no process used the GPU while it could be recorded: {} has no new recording", directory)};
  for (const CheckResult& result : check_machine(directory)) {
    if (result.level == Level::ok) continue;
    lines.push_back(fmt::format("doctor: {}: {}{}{}", result.check, result.what, result.next.empty() ? "" : " -> ",
                                result.next));
  }
  lines.emplace_back("next: tracetool doctor; and while the program runs, tracetool doctor PID");
  return lines;
}

}  // namespace

std::vector<std::string> record_summary(const std::string& directory, std::int64_t start_ns) {
  const Recorded sum = find_recorded(directory, start_ns);
  if (sum.recordings == 0) return why_nothing(directory);
  const bool one_run = sum.runs.size() == 1;
  const std::string where = one_run ? directory + "/" + *sum.runs.begin() : directory;
  return {fmt::format("{} in {}: {}, {}", count_text(sum.recordings, "recording"), where,
                      count_text(sum.records, "record"), losses(sum)),
          fmt::format("next: tracetool info {0}; tracetool merge {0} -o run.ttrace", shell_word(where))};
}

bool is_further_rank() {
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", "PMIX_RANK"}) {
    const char* rank = std::getenv(name);
    if (rank != nullptr) return std::strcmp(rank, "0") != 0;
  }
  return false;
}

}  // namespace cli
