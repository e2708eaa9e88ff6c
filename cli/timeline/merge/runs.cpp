#include "cli/timeline/merge/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cli/base/error.h"
#include "cli/base/text.h"
#include "cli/base/threads.h"
#include "cli/formats/reading/reader.h"
#include "cli/timeline/merge/ranks.h"

namespace cli {
namespace {

namespace fs = std::filesystem;
using Form = TracePeek::Form;

// The permanent identity of a process, as far as its file contains it.
using Identity = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;
using Identities = std::set<Identity>;

Identities identities(const RunFile& file) {
  Identities all;
  for (const Process& p : file.peek.processes) all.emplace(p.host, p.boot_id, p.pid, p.recorder.created_ns);
  return all;
}

bool contains(const Identities& all, const Identities& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

// Returns the directory of a file relative to its root; "." for files in the root.
std::string directory_below_root(const FoundFile& file) {
  const fs::path root = fs::path(file.root).lexically_normal();
  return fs::path(file.path).lexically_normal().parent_path().lexically_relative(root).string();
}

// Returns the name of a directory below `root`; for the root, its own name.
std::string run_name(const std::string& below, const std::string& root) {
  if (!below.empty() && below != ".") return below;
  std::error_code error;
  fs::path whole = fs::absolute(fs::path(root).lexically_normal(), error).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole.filename().string();
}

class RunLister {
 public:
  explicit RunLister(const std::vector<FoundFile>& files) {
    std::vector<std::string> directories;
    for (const FoundFile& file : files) directories.push_back(directory_below_root(file));
    directories = without_rank_directories(directories);
    for (std::size_t i = 0; i < files.size(); ++i) add(files[i], directories[i], peek_trace(files[i].path));
    for (auto& [file, peek] : without_id_) add_merged(*file, std::move(peek));
  }

  RunList take() {
    RunList list;
    for (auto& [key, run] : runs_) {
      settle(run);
      list.runs.push_back(std::move(run));
    }
    if (list.runs.size() > 1) {
      for (Run& run : list.runs) find_start(run);
    }
    std::stable_sort(list.runs.begin(), list.runs.end(), [](const Run& a, const Run& b) { return rank(a) < rank(b); });
    list.skipped = std::move(skipped_);
    return list;
  }

 private:
  // At equal times, recordings count as newer than profiles, and runs nearer to the directory as newer than deeper
  // ones.
  static std::tuple<std::int64_t, bool, std::int64_t> rank(const Run& run) {
    const std::string& path = run.files.front().path;
    return {run.start_ns, run.files.front().peek.form == Form::recording, -std::count(path.begin(), path.end(), '/')};
  }

  void add(const FoundFile& file, const std::string& directory, TracePeek peek) {
    if (peek.form == Form::no_trace) return skip(file.path, std::move(peek.reason));
    if (peek.form == Form::chrome_export) {
      return skip(file.path, "Chrome JSON exported by tracetool; use the original recordings");
    }
    if (peek.run_id.empty() && peek.form == Form::merged) {
      without_id_.emplace_back(&file, std::move(peek));
      return;
    }
    const std::string name = peek.run_id.empty() ? run_name(directory, file.root) : peek.run_id;
    add_to(name, file.path, std::move(peek));
  }

  // For profiles, which have no run id.
  void add_merged(const FoundFile& file, TracePeek peek) {
    const bool is_here = std::all_of(peek.processes.begin(), peek.processes.end(),
                                     [&](const Process& p) { return profiles_.contains(name_of(p.source)); });
    if (is_here && !peek.processes.empty()) return skip(file.path, "merged from profiles in this directory");
    add_to(name_of(file.path), file.path, std::move(peek));
  }

  void add_to(const std::string& name, const std::string& path, TracePeek peek) {
    Run& run = runs_[name];
    run.name = name;
    if (peek.start_ns != 0 && (run.start_ns == 0 || peek.start_ns < run.start_ns)) run.start_ns = peek.start_ns;
    if (peek.form == Form::kineto || peek.form == Form::nsys) profiles_.insert(name_of(path));
    run.files.push_back({path, std::move(peek)});
  }

  void skip(std::string path, std::string reason) { skipped_.push_back({std::move(path), std::move(reason)}); }

  void skip_form(Run& run, Form form, const std::string& reason) {
    std::erase_if(run.files, [&](RunFile& file) {
      if (file.peek.form != form) return false;
      skip(std::move(file.path), reason);
      return true;
    });
  }

  // Keeps one form of each process of the run. Larger merged files come first.
  void settle(Run& run) {
    std::stable_sort(run.files.begin(), run.files.end(), [](const RunFile& a, const RunFile& b) {
      const bool merged = a.peek.form == Form::merged && b.peek.form == Form::merged;
      if (a.peek.form != b.peek.form) return a.peek.form < b.peek.form;
      return merged && a.peek.processes.size() > b.peek.processes.size();
    });
    Identities known;
    for (const RunFile& file : run.files) {
      if (file.peek.form == Form::recording) known.merge(identities(file));
    }
    std::vector<RunFile> kept;
    bool recordings_are_merged = false;
    for (RunFile& file : run.files) {
      if (file.peek.form == Form::merged) {
        Identities merged = identities(file);
        if (contains(known, merged)) {
          skip(std::move(file.path), "merged from recordings in this directory");
          continue;
        }
        recordings_are_merged = recordings_are_merged || contains(merged, known);
        known.merge(merged);
      }
      kept.push_back(std::move(file));
    }
    run.files = std::move(kept);
    if (recordings_are_merged) skip_form(run, Form::recording, "part of a merged file with more of its run");
    const bool only_exports = std::all_of(run.files.begin(), run.files.end(),
                                          [](const RunFile& f) { return f.peek.form == Form::kineto_export; });
    if (!only_exports) skip_form(run, Form::kineto_export, "exported from recordings in this directory");
  }

  // The beginning of a profile does not contain its time if its base follows the events.
  static void find_start(Run& run) {
    struct Earliest : EventSink {
      void event(const Event& event, const Facts&) override { ns = std::min(ns, event.start_ns); }
      std::int64_t ns = std::numeric_limits<std::int64_t>::max();
    };
    if (run.start_ns != 0) return;
    try {
      Catalog catalog;
      Earliest earliest;
      open_trace(run.files.front().path, {usable_cores()})->read(catalog, earliest);
      if (earliest.ns != std::numeric_limits<std::int64_t>::max()) run.start_ns = earliest.ns;
    } catch (const Error&) {  // reported when the run is read
    }
  }

  std::map<std::string, Run> runs_;  // by name
  std::vector<std::pair<const FoundFile*, TracePeek>> without_id_;
  std::set<std::string> profiles_;  // file names
  std::vector<SkippedFile> skipped_;
};

}  // namespace

RunList list_runs(const std::vector<FoundFile>& files) { return RunLister(files).take(); }

namespace {

constexpr std::int64_t kClockError_ns = 300'000'000'000, kRanksApart_ns = 3'600'000'000'000,
                       kPhasesApart_ns = 86'400'000'000'000;
constexpr std::int64_t kYear2000_ns = 946'684'800'000'000'000;

class RunGroups {
 public:
  explicit RunGroups(const Catalog& catalog) : all_(catalog.processes), group_(all_.size()) {
    std::iota(group_.begin(), group_.end(), 0);
    const auto has_times = [](const Process& p) { return p.first_ns != 0 || p.last_ns != 0; };
    const bool any_set = std::any_of(all_.begin(), all_.end(),
                                     [&](const Process& p) { return has_times(p) && begin_of(p) >= kYear2000_ns; });
    for (ProcessId id = 0; id < all_.size(); ++id) {
      if (has_times(all_[id]) && (!any_set || begin_of(all_[id]) >= kYear2000_ns)) sorted_.push_back(id);
    }
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [&](ProcessId a, ProcessId b) { return begin_of(all_[a]) < begin_of(all_[b]); });
  }

  // Joins processes with equal keys and at most this gap between them. `key_of` returns an optional-like value, false
  // if there is no key.
  template <typename KeyOf>
  void join_near(std::int64_t most_ns, KeyOf&& key_of) {
    using Key = typename std::decay_t<decltype(key_of(all_[0]))>::value_type;
    std::map<Key, ProcessId> last;  // the one that ends last so far
    for (const ProcessId id : sorted_) {
      const auto key = key_of(all_[id]);
      if (!key) continue;
      const auto [known, is_first] = last.try_emplace(*key, id);
      if (is_first) continue;
      const std::int64_t end_ns = all_[known->second].last_ns;
      if (begin_of(all_[id]) <= end_ns || begin_of(all_[id]) - end_ns <= most_ns)
        group_[root(id)] = root(known->second);
      if (all_[id].last_ns > end_ns) known->second = id;
    }
  }

  std::vector<std::vector<ProcessId>> take() {
    std::vector<std::vector<ProcessId>> runs;
    std::map<ProcessId, std::size_t> numbers;  // by root
    for (const ProcessId id : sorted_) {
      const auto [known, is_new] = numbers.try_emplace(root(id), runs.size());
      if (is_new) runs.emplace_back();
      runs[known->second].push_back(id);
    }
    return runs;
  }

 private:
  ProcessId root(ProcessId id) {
    while (group_[id] != id) id = group_[id] = group_[group_[id]];
    return id;
  }

  const std::vector<Process>& all_;
  std::vector<ProcessId> group_;   // by ProcessId: another process of its run; a root refers to itself
  std::vector<ProcessId> sorted_;  // by begin
};

using Owner = std::tuple<std::int64_t, std::int64_t, std::string_view>;

// Returns the text for a rank, or a process of unknown rank.
std::optional<Owner> owner_of(const Process& p) {
  if (p.rank >= 0) return Owner(p.rank, -1, "");
  if (p.pid < 0) return std::nullopt;
  return Owner(-1, p.pid, p.host);
}

}  // namespace

std::vector<std::vector<ProcessId>> separate_runs(const Catalog& catalog) {
  RunGroups groups(catalog);
  groups.join_near(kClockError_ns, [](const Process&) { return std::optional(0); });
  groups.join_near(kRanksApart_ns, [](const Process& p) { return p.rank >= 0 ? std::optional(0) : std::nullopt; });
  groups.join_near(kRanksApart_ns, owner_of);
  groups.join_near(kPhasesApart_ns, [](const Process& p) { return p.phase.empty() ? std::nullopt : owner_of(p); });
  groups.join_near(INT64_MAX, [](const Process& p) {
    return p.run_id.empty() ? std::nullopt : std::optional(std::string_view(p.run_id));
  });
  return groups.take();
}

std::string separate_runs_text(const Catalog& catalog) {
  const auto runs = separate_runs(catalog);
  if (runs.size() < 2) return {};
  const auto name = [&](const std::vector<ProcessId>& run) {
    const std::string more = run.size() > 1 ? fmt::format(" and {} more", run.size() - 1) : "";
    return fmt::format("{}{}, from {}", catalog.processes[run[0]].source, more,
                       time_text(begin_of(catalog.processes[run[0]])));
  };
  const auto path = [&](const std::vector<ProcessId>& run, const char* otherwise) {
    return run.size() > 1 ? std::string(otherwise) : shell_word(catalog.processes[run[0]].source);
  };
  const auto last = std::max_element(runs[0].begin(), runs[0].end(), [&](ProcessId a, ProcessId b) {
    return catalog.processes[a].last_ns < catalog.processes[b].last_ns;
  });
  return fmt::format(
      "{} unrelated runs: {}; and {}, which begins {} after the first ends; compare them with `tracetool diff {} {}`, or "
      "give the files of one run (--run NAME chooses a run of a directory)",
      runs.size(), name(runs[0]), name(runs[1]),
      duration_text(begin_of(catalog.processes[runs[1][0]]) - catalog.processes[*last].last_ns), path(runs[0], "A"),
      path(runs[1], "B"));
}

}  // namespace cli
