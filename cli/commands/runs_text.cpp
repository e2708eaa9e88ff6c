#include "cli/commands/runs_text.h"

#include <algorithm>
#include <map>

#include "cli/base/error.h"
#include "cli/base/json_text.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/trace/losses.h"
#include "cli/trace/ranks.h"

namespace cli {

namespace {

constexpr std::size_t kNamedRuns = 8;
constexpr std::size_t kReasons = 6;

struct Search {
  FoundBy by = FoundBy::directory;
  std::vector<FoundFile> files;
};

std::string names(const std::vector<Run>& runs) {
  std::string text;
  for (std::size_t i = 0; i < std::min(runs.size(), kNamedRuns); ++i)
    text += (i == 0 ? "" : ", ") + runs[runs.size() - 1 - i].name;
  return runs.size() > kNamedRuns ? fmt::format("{}, and {} older ones", text, runs.size() - kNamedRuns) : text;
}

// Returns the runs of `list` that `run` selects.
std::vector<Run> chosen(const RunList& list, const std::string& root, FoundBy by, const std::string& run,
                        std::vector<std::string>& notes) {
  if (run == kAllRuns || (run.empty() && by == FoundBy::pattern)) return list.runs;
  if (!run.empty() && run != kLatestRun) {
    const auto named = std::ranges::find(list.runs, run, &Run::name);
    return named == list.runs.end() ? std::vector<Run>() : std::vector{*named};
  }
  if (list.runs.size() > 1 && run.empty())
    notes.push_back(
        fmt::format("{}: {} runs; using the newest, {}; choose another with --run NAME, or all with --run all; "
                    "`tracetool runs {}` lists them",
                    root, list.runs.size(), run_text(list.runs.back()), shell_word(root)));
  return {list.runs.back()};
}

std::string ranks_text(const RunRow& row) {
  const std::uint64_t unknown = row.processes - std::min<std::uint64_t>(row.processes, row.ranks.size());
  std::string text = row.ranks.empty() ? "" : number_list(row.ranks);
  if (row.world_size > static_cast<std::int64_t>(row.ranks.size())) text += fmt::format(" of {}", row.world_size);
  if (unknown > 0) text += fmt::format("{}{} unknown", text.empty() ? "" : ", ", unknown);
  return text;
}

std::optional<std::int64_t> known(std::int64_t value, std::int64_t unknown) {
  return value == unknown ? std::nullopt : std::optional<std::int64_t>(value);
}

}  // namespace

std::string run_text(const Run& run) {
  return run.start_ns == 0 ? run.name : fmt::format("{} ({})", run.name, time_text(run.start_ns));
}

std::vector<std::string> skipped_text(const std::vector<SkippedFile>& skipped) {
  std::vector<std::string> notes;
  struct Group {
    const SkippedFile* first;
    std::size_t count;
  };
  std::vector<Group> groups;
  for (const SkippedFile& file : skipped) {
    const auto known = std::ranges::find_if(groups, [&](const Group& g) { return g.first->reason == file.reason; });
    if (known == groups.end())
      groups.push_back({&file, 1});
    else
      ++known->count;
  }
  std::size_t said = 0;
  for (std::size_t i = 0; i < std::min(groups.size(), kReasons); ++i) {
    const auto& [first, count] = groups[i];
    said += count;
    notes.push_back(fmt::format("skipped {}{}: {}", first->path,
                                count > 1 ? fmt::format(" and {} more", count - 1) : "", first->reason));
  }
  if (said < skipped.size())
    notes.push_back(fmt::format("skipped {} more files for other reasons", skipped.size() - said));
  return notes;
}

void refuse_without_trace(const std::string& root, const std::vector<SkippedFile>& skipped) {
  const SkippedFile& first = skipped.front();
  throw Error(Exit::cannot_open,
              "{}: no trace among {} file{}: {}: {}; give files of libagent.so (*.ring), merge (*.ttrace) "
              "or torch.profiler",
              root, skipped.size(), skipped.size() == 1 ? "" : "s", first.path, first.reason);
}

ChosenFiles choose_run(const std::vector<FoundFile>& files, const std::string& run) {
  ChosenFiles result;
  std::map<std::string, Search> searches;
  for (const FoundFile& file : files) {
    if (file.by == FoundBy::name) {
      result.paths.push_back(file.path);
      continue;
    }
    Search& search = searches[file.root];
    search.by = file.by;
    search.files.push_back(file);
  }
  if (searches.empty() && !run.empty() && run != kAllRuns)
    throw Error(Exit::usage, "--run {}: this chooses a run of a directory, but files are given; give the directory",
                run);
  std::size_t found = 0;
  std::vector<Run> others;
  for (const auto& [root, search] : searches) {
    RunList list = list_runs(search.files);
    if (list.runs.empty()) refuse_without_trace(root, list.skipped);
    for (std::string& note : skipped_text(list.skipped)) result.notes.push_back(std::move(note));
    for (const Run& each : chosen(list, root, search.by, run, result.notes)) {
      ++found;
      for (const RunFile& file : each.files) result.paths.push_back(file.path);
    }
    std::move(list.runs.begin(), list.runs.end(), std::back_inserter(others));
  }
  if (found == 0 && !searches.empty()) throw Error(Exit::usage, "--run {}: no such run; runs: {}", run, names(others));
  return result;
}

std::string runs_text(const std::vector<RunRow>& rows) {
  Table table({"run", "start", "ranks", "span", "overwritten", "lost", "size", "state"});
  for (const RunRow& row : rows)
    table.add({row.name, row.start_ns == 0 ? "?" : time_text(row.start_ns), ranks_text(row), duration_text(row.span_ns),
               fmt::format("{}", row.overwritten), fmt::format("{}", row.lost), bytes_text(row.bytes), row.state});
  std::string text = table.text();
  for (const RunRow& row : rows) {
    if (row.removed_runs > 0) add_line(text, "{} {}", row.name, removed_runs_text(row.removed_runs));
  }
  return text;
}

void write_runs_json(const std::vector<RunRow>& rows, ByteSink& sink) {
  write_json(sink, [&](JsonWriter& json) {
    json.array("runs", rows, [&](const RunRow& row) {
      json.open('{');
      json.members("run", row.name, "start_ns", known(row.start_ns, 0));
      json.array("ranks", row.ranks);
      json.members("world_size", known(row.world_size, -1), "processes", row.processes, "span_ns", row.span_ns,
                   "overwritten", row.overwritten, "lost", row.lost, "bytes", row.bytes, "removed_runs",
                   row.removed_runs, "state", row.state);
      json.close('}');
    });
  });
}

}  // namespace cli
