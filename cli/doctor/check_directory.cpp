
#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/doctor/check_recording.h"
#include "cli/doctor/checks.h"
#include "cli/doctor/injection.h"
#include "cli/trace/ranks.h"

namespace cli::doctor {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kNamedRanks = 8;

// `error` is about the directory itself; subdirectories that cannot be listed are skipped.
std::vector<std::string> recordings_below(const std::string& directory, std::error_code& error) {
  std::vector<std::string> found;
  fs::directory_iterator probe(directory, error);
  if (error) return found;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".ring") found.push_back(at->path().string());
  }
  std::ranges::sort(found);
  return found;
}

std::string some(const std::vector<std::int64_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), kNamedRanks); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return ranks.size() > kNamedRanks ? text + ", ..." : text;
}

using Run = std::vector<const ReadRecording*>;

std::vector<std::int64_t> missing_ranks(const Run& run, std::int64_t expected) {
  std::set<std::int64_t> there;
  for (const ReadRecording* each : run) there.insert(each->process.rank);
  std::vector<std::int64_t> missing;
  for (std::int64_t rank = 0; rank < expected; ++rank) {
    if (!there.contains(rank)) missing.push_back(rank);
  }
  return missing;
}

std::string states(const Run& run) {
  std::map<std::string, int> counts;
  for (const ReadRecording* each : run) ++counts[std::string(word(each->process.state))];
  std::string text;
  for (const auto& [state, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, state);
  return text;
}

CheckResults check_ranks(const std::string& id, const Run& run) {
  std::int64_t expected = -1;
  for (const ReadRecording* each : run) expected = std::max(expected, each->process.world_size);
  const std::string what =
      fmt::format("run {}: {} ({})", id, count_text(run.size(), "process", "processes"), states(run));
  if (expected <= 0) return {ok("ranks", what)};
  const std::vector<std::int64_t> missing = missing_ranks(run, std::min<std::int64_t>(expected, 1 << 20));
  if (missing.empty()) return {ok("ranks", fmt::format("{}, all {} ranks", what, expected))};
  return {warn(
      "ranks", fmt::format("{}: {} of {} ranks are missing: {}", what, missing.size(), expected, some(missing)),
      "check the directories of the other hosts; a rank on this host may not have used the GPU yet, or failed to record: run `tracetool doctor PID` for it")};
}

// Returns the runs by start time, the newest last.
std::vector<std::pair<std::string, Run>> by_run(const std::vector<ReadRecording>& all) {
  std::map<std::string, Run> runs;
  for (const ReadRecording& each : all) runs[each.process.run_id].push_back(&each);
  std::vector<std::pair<std::string, Run>> sorted(runs.begin(), runs.end());
  const auto began = [](const Run& run) {
    std::int64_t first = run[0]->process.recorder.created_ns;
    for (const ReadRecording* each : run) first = std::min(first, each->process.recorder.created_ns);
    return first;
  };
  std::ranges::stable_sort(sorted, [&](const auto& a, const auto& b) { return began(a.second) < began(b.second); });
  return sorted;
}

void check_run(const std::string& id, const Run& recordings, CheckResults& found) {
  for (CheckResult& result : check_ranks(id, recordings)) found.push_back(std::move(result));
  CheckResults each;
  for (const ReadRecording* recording : recordings) {
    for (CheckResult& result : check_recording(*recording, wall_clock_ns())) each.push_back(std::move(result));
  }
  for (CheckResult& result : grouped(each)) found.push_back(std::move(result));
}

void check_runs(const std::vector<ReadRecording>& all, const std::string& wanted, CheckResults& found) {
  const auto runs = by_run(all);
  if (runs.empty()) return;
  if (wanted == kLatestRun) {
    if (runs.size() > 1)
      found.push_back(
          ok("runs", fmt::format("{} runs; checking the newest, choose another with --run NAME", runs.size())));
    return check_run(runs.back().first, runs.back().second, found);
  }
  bool any = false;
  for (const auto& [id, recordings] : runs) {
    if (wanted != kAllRuns && wanted != id) continue;
    any = true;
    check_run(id, recordings, found);
  }
  if (any) return;
  throw Error(Exit::usage, "--run {}: no recording of this run; `tracetool runs` lists the runs", wanted);
}

std::uint64_t largest(const std::vector<std::string>& files) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const std::string& file : files) {
    const std::uint64_t size = fs::file_size(file, error);
    if (!error) bytes = std::max(bytes, size);
  }
  return bytes;
}

CheckResults check_empty(const std::string& directory) {
  CheckResults found = check_output_directory(directory, ring_bytes_wanted());
  found.push_back(fail("ranks", fmt::format("no recording (*.ring) below {}", directory),
                       "a recording starts with the first CUDA context of a process; run `tracetool doctor PID`"));
  return found;
}

}  // namespace

CheckResults check_directory(const std::string& directory, const std::string& run) {
  std::error_code error;
  if (!fs::exists(directory, error))
    return {fail("directory", fmt::format("{} does not exist: nothing was recorded there", directory),
                 "start the program with `tracetool record -- CMD`; if it already runs, use `tracetool doctor PID`")};
  const std::vector<std::string> files = recordings_below(directory, error);
  if (error && files.empty())
    return {fail("directory", fmt::format("{} cannot be listed: {}", directory, error.message()),
                 "run tracetool as the user who recorded, or change the permissions")};
  if (files.empty()) return check_empty(directory);
  CheckResults found;
  std::vector<ReadRecording> all;
  for (const std::string& file : files) {
    if (fs::is_empty(file, error)) {
      found.push_back(
          warn("file", file + " is empty: nothing was recorded in it", "skipped; check whether the disk was full"));
      continue;
    }
    try {
      all.push_back(read_recording(file));
    } catch (const Error& wrong) {
      CheckResult result = fail("file", wrong.what(), "skipped; the other recordings are checked");
      result.exit = Exit::bad_content;
      found.push_back(std::move(result));
    }
  }
  const bool is_live =
      std::ranges::any_of(all, [](const auto& each) { return each.process.state == RecordingState::live; });
  CheckResults place = check_used_directory(directory, largest(files), is_live);
  found.insert(found.begin(), place.begin(), place.end());
  check_runs(all, run, found);
  return found;
}

}  // namespace cli::doctor
