#include "cli/commands/inputs.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "cli/answers/derived/lost_slices.h"
#include "cli/base/error.h"
#include "cli/base/files.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/commands/nsys_reports.h"
#include "cli/commands/runs_text.h"
#include "cli/formats/inputs/paths.h"
#include "cli/formats/nsys/reader.h"
#include "cli/timeline/select/step_finder.h"
#include "cli/timeline/select/step_numbers.h"

namespace cli {

namespace {

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

// The input files by real path, so that lookups are fast with thousands of files.
class InputList {
 public:
  void add(std::string path) {
    const auto [place, is_new] = places_.try_emplace(real_path(path), traces.size());
    if (is_new) traces.push_back({std::move(path), {}});
  }

  // Links to one file may have different ranks; the same path may not.
  void add_ranked(TraceInput input) {
    if (std::error_code error; std::filesystem::is_directory(input.path, error))
      throw Error(Exit::usage, "--rank {}={}: this is a directory; give a file, as in --rank 3=traces/worker.ring",
                  *input.rank, input.path);
    const auto [ranked, is_first] =
        ranked_.try_emplace(std::filesystem::path(input.path).lexically_normal().string(), *input.rank);
    if (!is_first && ranked->second != *input.rank)
      throw Error(Exit::usage, "{} is given two ranks, --rank {} and --rank {}; give one", input.path, ranked->second,
                  *input.rank);
    if (!is_first) return;
    const auto [place, is_new] = places_.try_emplace(real_path(input.path), traces.size());
    if (is_new || traces[place->second].rank) {
      traces.push_back(std::move(input));
    } else {
      traces[place->second].rank = input.rank;
    }
  }
  std::vector<TraceInput> traces;

 private:
  std::unordered_map<std::string, std::size_t> places_;
  std::unordered_map<std::string, std::int64_t> ranked_;
};

std::vector<ProcessSteps> find_steps(OrderedTrace& trace, const ProcessClocks& clocks, EventSink* also) {
  Progress progress("finding steps");
  StepFinder finder(trace.catalog(), clocks);
  EachEvent both([&](const Event& event, const Facts& facts) {
    finder.event(event, facts);
    also->event(event, facts);
  });
  trace.walk(also == nullptr ? static_cast<EventSink&>(finder) : both);
  std::vector<ProcessSteps> found = finder.take();
  number_alike(found, trace.catalog(), clocks);
  return found;
}

}  // namespace

std::string real_path(const std::string& path) {
  if (path == "-") return path;
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  return error ? path : real.string();
}

TraceInput parse_rank(const std::string& text) {
  std::int64_t rank = -1;
  const std::size_t equals = text.find('=');
  const char* end = text.data() + std::min(equals, text.size());
  const auto parsed = std::from_chars(text.data(), end, rank);
  if (equals == std::string::npos || parsed.ptr != end || parsed.ec != std::errc() || rank < 0 ||
      equals + 1 == text.size()) {
    throw Error(Exit::usage, "--rank {}: expected N=FILE with N >= 0, as in --rank 3=traces/worker.ring", text);
  }
  return {text.substr(equals + 1), rank};
}

std::string inputs_text(const InputOptions& inputs) {
  std::string out;
  const auto add = [&](const std::string& word) { out += (out.empty() ? "" : " ") + word; };
  for (const std::string& path : inputs.paths) add(path == "-" ? std::string("FILE") : shell_word(path));
  for (const std::string& rank : inputs.ranks) add("--rank " + shell_word(rank));
  if (!inputs.run.empty()) add("--run " + shell_word(inputs.run));
  if (inputs.with_nsys) add("--with-nsys");
  return out;
}

std::vector<TraceInput> find_inputs(const InputOptions& options) {
  if (options.paths.empty() && options.ranks.empty())
    throw Error(Exit::usage, "missing traces; give files, a directory or a glob, as in `tracetool info traces/`");
  InputList list;
  const auto paths = options.with_nsys ? with_exported_reports(options.paths) : options.paths;
  ChosenFiles chosen = choose_run(find_files(paths), options.run);
  for (std::string& path : chosen.paths) list.add(std::move(path));
  for (const std::string& text : options.ranks) {
    TraceInput ranked = parse_rank(text);
    if (options.with_nsys && nsys::is_report_name(ranked.path)) ranked.path = exported_report(ranked.path);
    list.add_ranked(std::move(ranked));
  }
  print_notes(chosen.notes);
  return std::move(list.traces);
}

std::unique_ptr<OrderedTrace> read_inputs(const std::vector<TraceInput>& inputs, std::size_t memory_mib,
                                          const std::string& output, EventChoice choice, bool own_times) {
  MergeOptions options;
  options.memory_bytes = memory_mib << 20;
  options.scratch_directory = scratch_directory(output);
  options.choice = std::move(choice);
  options.own_times = own_times;
  std::unique_ptr<OrderedTrace> trace = order_traces(inputs, options);
  print_warnings(trace->warnings);
  return trace;
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) print_line("tracetool: warning: {}", warning);
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) print_line("tracetool: {}", note);
}

void refuse_input_as_output(const std::vector<TraceInput>& inputs, const std::string& output) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(output, error)) return;
  for (const TraceInput& input : inputs) {
    if (!same_file(input.path, output)) continue;
    throw Error(Exit::usage, "{} is also an input; choose another output with -o", output);
  }
}

std::optional<NameRules> read_class_rules(const std::string& classes, const std::string& output) {
  if (classes.empty()) return std::nullopt;
  refuse_input_as_output({{classes, {}}}, output);
  return read_name_rules(classes);
}

std::string output_name(const std::string& input, const std::string& extension) {
  std::filesystem::path path = std::filesystem::path(input).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::string name = path.filename().string();
  if (name.empty() || name == "-" || name == "." || name == "..") return "trace" + extension;
  for (const std::string ending : {".gz", ".zst", ".json", ".trace", ".pt", ".ttrace", ".ring"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  return same_file(name + extension, input) ? name + ".export" + extension : name + extension;
}

std::string default_output(const InputOptions& options, const std::vector<TraceInput>& inputs,
                           const std::string& extension) {
  const std::string path = output_name(options.paths.empty() ? inputs.at(0).path : options.paths[0], extension);
  if (!std::filesystem::exists(path)) return path;
  throw Error(Exit::usage, "{} exists; use -o to replace it or to choose another output", path);
}

FoundFacts find_facts(OrderedTrace& trace, EventSink* also) {
  FoundFacts found;
  if (trace.has_own_times()) found.facts.clocks = ProcessClocks(trace.catalog(), trace.fits());
  const ProcessClocks& clocks = found.facts.clocks;
  std::int64_t first_ns = picture_start(trace.catalog()), last_ns = 0;
  found.steps_found = trace.steps();
  found.walked = found.steps_found.empty();
  if (found.walked) found.steps_found = find_steps(trace, clocks, also);
  for (const ProcessSteps& process : found.steps_found) {
    const std::size_t id = found.facts.steps.size();
    found.facts.steps.push_back(process.steps);
    if (process.first_ns == 0) continue;
    const std::int64_t begun_ns = clocks.on_axis(id, process.first_ns), ended_ns = clocks.on_axis(id, process.last_ns);
    first_ns = first_ns == 0 ? begun_ns : std::min(first_ns, begun_ns);
    last_ns = last_ns == 0 ? ended_ns : std::max(last_ns, ended_ns);
  }
  found.facts.first_ns = first_ns;
  found.facts.last_ns = last_ns;
  return found;
}

void survey(OrderedTrace& trace, Selector& selector, const Wanted& wanted) {
  if (!selector.needs_survey()) return;
  Progress progress("choosing");
  EachEvent sink([&](const Event& event, const Facts&) {
    selector.survey(event);
    progress.step();
  });
  trace.walk(sink, wanted);
}

}  // namespace cli
