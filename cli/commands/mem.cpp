#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "cli/answers/memory/from_trace.h"
#include "cli/answers/memory/memory_tables.h"
#include "cli/answers/memory/timeline.h"
#include "cli/answers/tables/write_tables.h"
#include "cli/base/error.h"
#include "cli/base/json_text.h"
#include "cli/base/output_file.h"
#include "cli/base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/inputs.h"
#include "cli/commands/options.h"
#include "cli/formats/inputs/paths.h"
#include "cli/formats/snapshot/write_snapshot.h"
#include "cli/show/report/memory_page.h"
#include "cli/timeline/merge/ranks.h"

namespace cli {
namespace {

struct MemOptions {
  std::shared_ptr<InputOptions> inputs;
  std::shared_ptr<std::size_t> memory_mib;
  std::string by = "line", at = "peak", baseline, timeline, pickle, html, format = "text", output = "-";
  std::size_t limit = 20;
};

// Returns the snapshots at a path: the file itself, those that a glob matches, or those below a directory, in natural
// order. Returns an empty list if the path contains no snapshots and is to be read as a trace.
std::vector<std::string> snapshots_of(const std::string& path) {
  std::error_code error;
  std::vector<std::string> found;
  if (std::filesystem::is_directory(path, error)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error)) {
      const std::string name = entry.path().string();
      if (entry.is_regular_file(error) && is_snapshot_name(name)) found.push_back(name);
    }
  } else if (std::filesystem::exists(path, error)) {
    if (snapshot::is_snapshot_file(path) || is_snapshot_name(path)) found.push_back(path);
  } else {
    for (const std::string& each : expand_paths({path})) {
      if (is_snapshot_name(each)) found.push_back(each);
    }
  }
  std::sort(found.begin(), found.end(), natural_less);
  return found;
}

void add_snapshots(const std::vector<std::string>& paths, std::vector<memory::Input>& inputs) {
  const auto ranks = rank_names(paths);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    memory::Input input{
        snapshot::read_snapshot(paths[i]), std::filesystem::path(paths[i]).filename().string(), ranks[i], {}};
    input.devices = memory::replay(input.snapshot);
    if (!input.snapshot.has_history()) {
      print_line(
          "tracetool: {}: no history, so only the end is shown; call "
          "torch.cuda.memory._record_memory_history() before the part to analyze",
          paths[i]);
    }
    inputs.push_back(std::move(input));
  }
}

void add_traces(const InputOptions& options, std::size_t memory_mib, const std::string& output,
                std::vector<memory::Input>& inputs) {
  const auto trace = read_inputs(find_inputs(options), memory_mib, output);
  memory::TraceMemory collected(trace->catalog());
  Wanted wanted;
  wanted.kinds = memory::TraceMemory::kinds();
  trace->walk(collected, wanted);
  std::vector<snapshot::Snapshot> snapshots = collected.finish();
  std::size_t without = 0;
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    inputs.push_back(memory::replayed(std::move(snapshots[i]), trace->catalog().processes[i]));
    without += inputs.back().devices.empty();
  }
  if (without == 0) return;
  print_line(
      "tracetool: {} without allocations; record with TRACETOOL_EVENTS=default,memory, profile with "
      "profile_memory=True, or give a memory snapshot of PyTorch",
      count_text(without, "process", "processes"));
}

std::vector<memory::Input> read_memory(InputOptions options, std::size_t memory_mib, const std::string& output) {
  std::vector<std::string> traces, snapshots;
  for (const std::string& path : options.paths) {
    const auto found = snapshots_of(path);
    snapshots.insert(snapshots.end(), found.begin(), found.end());
    if (found.empty()) traces.push_back(path);
  }
  options.paths = traces;
  std::vector<memory::Input> inputs;
  if (snapshots.empty() || !traces.empty() || !options.ranks.empty()) add_traces(options, memory_mib, output, inputs);
  add_snapshots(snapshots, inputs);
  return inputs;
}

memory::GroupBy group_by(const std::string& word) {
  return word == "category"   ? memory::GroupBy::category
         : word == "phase"    ? memory::GroupBy::phase
         : word == "line"     ? memory::GroupBy::line
         : word == "stack"    ? memory::GroupBy::stack
         : word == "operator" ? memory::GroupBy::op
                              : memory::GroupBy::module;
}

memory::Moment moment_of(const std::string& at) {
  if (at == "peak") return {};
  if (at == "end") return {memory::Moment::Kind::end};
  if (at == "oom") return {memory::Moment::Kind::first_failure};
  for (const memory::Part part :
       {memory::Part::forward, memory::Part::backward, memory::Part::optimizer, memory::Part::setup}) {
    if (at == fmt::format("peak:{}", memory::part_name(part))) return {memory::Moment::Kind::peak_of_part, 0, part};
  }
  std::size_t step = 0;
  const bool is_step = at.starts_with("step:");
  const auto [end, error] = std::from_chars(at.data() + (is_step ? 5 : 0), at.data() + at.size(), step);
  if (!is_step || error != std::errc() || end != at.data() + at.size()) {
    throw Error(Exit::usage, "--at " + at + ": expected peak, peak:PHASE, oom, end, or step:N");
  }
  return {memory::Moment::Kind::end_of_step, step, {}};
}

// Keeps the first `most` rows of each GPU: rows of one file and device are next to each other.
void limit_rows(ResultTable& table, std::size_t most) {
  const std::size_t all = table.rows.size();
  const bool has_devices = table.columns.size() > 2 && table.columns[2].key == "device";
  std::size_t count = 0;
  std::vector<Cell> last;
  std::erase_if(table.rows, [&](const std::vector<Cell>& row) {
    const bool is_next = has_devices && (last.empty() || last[0] != row[0] || last[1] != row[2]);
    if (is_next) count = 0, last = {row[0], row[2]};
    return ++count > most;
  });
  if (table.rows.size() == all) return;
  table.notes.push_back(fmt::format("showing {} of {} rows; --limit shows more", table.rows.size(), all));
}

// Writes the format of torch's export_memory_timeline(): [[time in us, ...], [[0, bytes by category, ...], ...]].
void write_timeline(const std::vector<memory::Input>& inputs, const std::string& path) {
  const memory::Input* only = nullptr;
  const memory::DeviceMemory* device = nullptr;
  for (const memory::Input& input : inputs) {
    for (const memory::DeviceMemory& each : input.devices) {
      if (device != nullptr)
        throw Error(Exit::usage, "--timeline: the input contains several devices; give a snapshot of one device");
      only = &input;
      device = &each;
    }
  }
  if (device == nullptr) throw Error(Exit::usage, "--timeline: the input contains no memory of a device");
  // The order of torch.profiler._memory_profiler: parameter, optimizer state, input, temporary, activation, gradient,
  // autograd detail, unknown.
  using memory::Category;
  constexpr Category kNone = Category::unknown;
  constexpr std::array kOrder{Category::parameter,  Category::optimizer_state, kNone, Category::temporary,
                              Category::activation, Category::gradient,        kNone};
  if (device->first_time_us == snapshot::kNoTime) {
    throw Error(
        Exit::bad_content,
        only->name + ": --timeline needs times, and this file contains none; older versions of PyTorch write none");
  }
  const auto file = open_output(path);
  JsonText text(*file);
  const auto write_each = [&](const auto& write) {
    bool is_first = true;
    text.raw("[");
    memory::walk_categories(only->snapshot, device->device,
                            [&](std::size_t, std::int64_t time_us, std::span<const std::uint64_t> bytes) {
                              text.raw(is_first ? "" : ", ");
                              is_first = false;
                              write(time_us, bytes);
                              if (text.full()) text.flush();
                            });
    text.raw("]");
  };
  text.raw("[");
  write_each([&](std::int64_t time_us, std::span<const std::uint64_t>) { text.number(time_us); });
  text.raw(", ");
  write_each([&](std::int64_t, std::span<const std::uint64_t> bytes) {
    text.raw("[0");
    for (const Category category : kOrder) {
      text.raw(", ");
      text.number(category == kNone ? 0 : bytes[static_cast<std::size_t>(category)]);
    }
    text.raw(", ");
    text.number(bytes[static_cast<std::size_t>(Category::unknown)]);
    text.raw("]");
  });
  text.raw("]\n");
  text.flush();
  file->finish();
}

// Writes a snapshot for PyTorch's memory_viz. A snapshot contains one process.
void write_pickle(const std::vector<memory::Input>& inputs, const std::string& path) {
  const auto has_memory = [](const memory::Input& input) { return !input.devices.empty(); };
  const auto only = std::find_if(inputs.begin(), inputs.end(), has_memory);
  if (only == inputs.end()) throw Error(Exit::usage, "--pickle: the input contains no memory of a device");
  if (const auto count = std::count_if(inputs.begin(), inputs.end(), has_memory); count > 1) {
    throw Error(Exit::usage, "--pickle: the input contains {} processes, and a snapshot contains one; give one file",
                count);
  }
  const auto file = open_output(path);
  snapshot::write_snapshot(only->snapshot, *file);
  file->finish();
  if (path == "-") return;
  std::size_t entries = 0;
  for (const snapshot::History& history : only->snapshot.histories) entries += history.size();
  print_line("{}: {}", path, count_text(entries, "entry", "entries"));
  print_line("next: open https://pytorch.org/memory_viz in a browser and drop {} there", shell_word(path));
}

void run_mem(const MemOptions& options) {
  const memory::Moment moment = moment_of(options.at);
  const memory::GroupBy by = group_by(options.by);
  const auto inputs = read_memory(*options.inputs, *options.memory_mib, options.output);
  if (!options.timeline.empty()) return write_timeline(inputs, options.timeline);
  if (!options.pickle.empty()) return write_pickle(inputs, options.pickle);
  std::vector<ResultTable> tables{memory::device_table(inputs), memory::all_devices_table(inputs),
                                  memory::phase_table(inputs)};
  if (options.baseline.empty()) {
    tables.push_back(memory::in_use_table(inputs, moment, by));
  } else {
    const auto baseline = read_memory({{options.baseline}, {}, {}}, *options.memory_mib, options.output);
    tables.push_back(memory::change_table(inputs, baseline, moment, by));
  }
  tables.push_back(memory::checkpointing_table(inputs, moment));
  tables.push_back(memory::growth_table(inputs, by));
  tables.push_back(memory::failure_table(inputs));
  tables.push_back(memory::fragmentation_table(inputs));
  if (!options.html.empty()) {
    const std::string compared = options.baseline.empty() ? "" : " --diff " + shell_word(options.baseline);
    const std::string command = fmt::format("tracetool mem{} --by {} --at {}{}", inputs_text(*options.inputs),
                                            options.by, options.at, compared);
    const std::string page = report::memory_page_html(inputs, tables, by, command);
    write_output(options.html, page);
    print_line("{}: {} bytes", options.html == "-" ? "stdout" : options.html, page.size());
    if (options.html != "-") print_line("next: open {} in a browser", shell_word(options.html));
    return;
  }
  if (options.format == "text") {
    // Text omits empty tables. JSON and Markdown contain all tables.
    std::erase_if(tables, [](const ResultTable& table) { return table.rows.empty() && table.notes.empty(); });
    for (ResultTable& table : tables) limit_rows(table, options.limit);
  }
  make_text_for(options.output);
  write_output(options.output, find_table_format(options.format)->write(tables));
}

std::function<void()> set_up_mem(CLI::App& app) {
  auto options = std::make_shared<MemOptions>();
  options->inputs = add_inputs(app);
  one_of(app.add_option("--by", options->by, "Group memory by this (default: line)"),
         "category|phase|line|stack|operator|module");
  add_text(
      app, "--at", options->at, "peak|peak:PHASE|oom|end|step:N",
      "The moment to show: the peak (default), the peak of a phase, the first failure, the end, or the end of a step");
  add_text(app, "--diff", options->baseline, "PATH", "Compare with the snapshots in this file or directory");
  CLI::Option* const timeline =
      add_text(app, "--timeline", options->timeline, "FILE",
               "Write memory by category over time instead, as torch's export_memory_timeline() does; - is stdout");
  CLI::Option* const pickle = add_text(app, "--pickle", options->pickle, "FILE",
                                       "Write a snapshot for PyTorch's memory_viz instead; - is stdout")
                                  ->excludes(timeline);
  add_text(app, "--html", options->html, "FILE", "Write an HTML page with a chart to this file instead of text")
      ->excludes(timeline)
      ->excludes(pickle);
  app.add_option("--limit", options->limit, "Print at most N rows per GPU in a text table (default: 20)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40).description(""))
      ->type_name("N");
  one_of(app.add_option("--format", options->format, "Output format (default: text)"), "text|json|md");
  add_text(app, "-o,--output", options->output, "FILE", "Output file; - is stdout (default)");
  options->memory_mib = add_memory(app);
  return [options] { run_mem(*options); };
}

}  // namespace

Command mem_command() {
  return {
      "mem", "Show what filled GPU memory at the peak, at a failed allocation, or after a step",
      "Reads the files of torch.cuda.memory._dump_snapshot(). The history is replayed backwards from the blocks in use at\n"
      "its end, so that memory allocated before it counts. The sums are checked: difference_bytes is 0 if they agree.\n"
      "A snapshot is read without executing it: a file that contains Python code is refused.\n"
      "\n"
      "  tracetool mem snapshot.pickle\n"
      "  tracetool mem snapshots/ --by operator\n"
      "  tracetool mem snapshot.pickle --format json | jq '.devices[].peak_bytes'",
      set_up_mem};
}

}  // namespace cli
