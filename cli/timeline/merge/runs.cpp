#include "cli/timeline/merge/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "cli/base/ordered_work.h"
#include "cli/timeline/merge/rank_names.h"
#include "cli/trace/error.h"
#include "cli/formats/reading/reader.h"

namespace cli {
namespace {

namespace fs = std::filesystem;
using Form = TracePeek::Form;

// What names a process for good, as far as its file tells.
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

// The directory of a file below its root; "." for what lies in it.
std::string directory_below_root(const FoundFile& file) {
  const fs::path root = fs::path(file.root).lexically_normal();
  return fs::path(file.path).lexically_normal().parent_path().lexically_relative(root).string();
}

// The name of a directory below `root`; the root's own for the root.
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
  // At one time recordings are newer than profiles, and those nearer to the directory than those below.
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

  // Of profiles, which have no run id.
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
    if (peek.form == Form::kineto) profiles_.insert(name_of(path));
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

  // Leaves of each process of the run one form. The larger merged files come first.
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

  // The beginning of a profile does not tell its time where its base stands behind its events.
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
    } catch (const Error&) {  // is said when the run is read
    }
  }

  std::map<std::string, Run> runs_;  // by name
  std::vector<std::pair<const FoundFile*, TracePeek>> without_id_;
  std::set<std::string> profiles_;  // names of files
  std::vector<SkippedFile> skipped_;
};

}  // namespace

RunList list_runs(const std::vector<FoundFile>& files) { return RunLister(files).take(); }

}  // namespace cli
