#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/answers/memory/memory_tables.h"
#include "cli/answers/tables/write_tables.h"
#include "cli/base/error.h"
#include "cli/base/output_file.h"
#include "cli/base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/options.h"
#include "cli/formats/inputs/paths.h"
#include "cli/timeline/merge/ranks.h"

namespace cli {
namespace {

struct MemOptions {
  std::vector<std::string> paths;
  std::string by = "line", at = "peak", baseline, format = "text", output = "-";
  std::size_t limit = 20;
};

bool is_snapshot_name(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
  return ends(".pickle") || ends(".pkl") || ends(".pickle.gz") || ends(".pickle.zst");
}

// Expands directories to the snapshots below them, in natural order.
std::vector<std::string> snapshot_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      found.push_back(path);
      continue;
    }
    std::vector<std::string> below;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error)) {
      if (entry.is_regular_file(error) && is_snapshot_name(entry.path())) below.push_back(entry.path().string());
    }
    if (below.empty()) {
      throw Error(Exit::cannot_open, path +
                                         ": no memory snapshot (*.pickle) in this directory; "
                                         "torch.cuda.memory._dump_snapshot(FILE) writes one");
    }
    std::sort(below.begin(), below.end(), natural_less);
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

std::vector<memory::Input> read_snapshots(const std::vector<std::string>& paths) {
  const auto ranks = rank_names(paths);
  std::vector<memory::Input> inputs;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    memory::Input input{
        snapshot::read_snapshot(paths[i]), std::filesystem::path(paths[i]).filename().string(), ranks[i], {}};
    input.devices = memory::replay(input.snapshot);
    if (!input.snapshot.has_history()) {
      print_line(
          "tracetool: {}: no history, so only the end is known; call "
          "torch.cuda.memory._record_memory_history() before the part of the program in question",
          paths[i]);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

memory::GroupBy group_by(const std::string& word) {
  return word == "category"   ? memory::GroupBy::category
         : word == "line"     ? memory::GroupBy::line
         : word == "stack"    ? memory::GroupBy::stack
         : word == "operator" ? memory::GroupBy::op
                              : memory::GroupBy::module;
}

memory::Moment moment_of(const std::string& at) {
  if (at == "peak") return {};
  if (at == "end") return {memory::Moment::Kind::end};
  if (at == "oom") return {memory::Moment::Kind::first_failure};
  std::size_t step = 0;
  const bool is_step = at.starts_with("step:");
  const auto [end, error] = std::from_chars(at.data() + (is_step ? 5 : 0), at.data() + at.size(), step);
  if (!is_step || error != std::errc() || end != at.data() + at.size()) {
    throw Error(Exit::usage, "--at " + at + ": expected peak, oom, end, or step:N");
  }
  return {memory::Moment::Kind::end_of_step, step};
}

void limit_rows(ResultTable& table, std::size_t most) {
  if (table.rows.size() <= most) return;
  table.notes.push_back(fmt::format("showing {} of {} rows; --limit shows more", most, table.rows.size()));
  table.rows.resize(most);
}

void run_mem(const MemOptions& options) {
  const memory::Moment moment = moment_of(options.at);
  const memory::GroupBy by = group_by(options.by);
  const std::vector<memory::Input> inputs = read_snapshots(snapshot_paths(options.paths));
  std::vector<ResultTable> tables{memory::device_table(inputs)};
  if (options.baseline.empty()) {
    tables.push_back(memory::in_use_table(inputs, moment, by));
  } else {
    tables.push_back(memory::change_table(inputs, read_snapshots(snapshot_paths({options.baseline})), moment, by));
  }
  tables.push_back(memory::growth_table(inputs, by));
  tables.push_back(memory::failure_table(inputs));
  tables.push_back(memory::fragmentation_table(inputs));
  if (options.format == "text") {
    // Tables of what did not happen would be noise; programs get all.
    std::erase_if(tables, [](const ResultTable& table) { return table.rows.empty() && table.notes.empty(); });
    for (ResultTable& table : tables) limit_rows(table, options.limit);
  }
  make_text_for(options.output);
  OutputFile out(options.output);
  out.write(find_table_format(options.format)->write(tables));
  out.finish();
}

std::function<void()> set_up_mem(CLI::App& app) {
  auto options = std::make_shared<MemOptions>();
  app.add_option("PATH", options->paths, "Memory snapshots of PyTorch (*.pickle), or directories of them")
      ->required()
      ->check(not_empty());
  app.add_option("--by", options->by, "Group memory by this (default: line)")
      ->check(CLI::IsMember({"category", "line", "stack", "operator", "module"}).description(""))
      ->type_name("category|line|stack|operator|module");
  app.add_option("--at", options->at,
                 "The moment to show: the peak (default), the first failure, the end, or the end of a step")
      ->check(not_empty())
      ->type_name("peak|oom|end|step:N");
  app.add_option("--diff", options->baseline, "Compare with these snapshots: what is in use now and was not then")
      ->check(not_empty())
      ->type_name("PATH");
  app.add_option("--limit", options->limit, "Print at most N rows per table (default: 20)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40).description(""))
      ->type_name("N");
  app.add_option("--format", options->format, "Output format (default: text)")
      ->check(CLI::IsMember({"text", "json", "md"}).description(""))
      ->type_name("text|json|md");
  app.add_option("-o,--output", options->output, "Output file; - is stdout (default)")
      ->check(not_empty())
      ->type_name("FILE");
  return [options] { run_mem(*options); };
}

}  // namespace

Command mem_command() {
  return {
      "mem", "Show what GPU memory was full of, from memory snapshots of PyTorch",
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
