#include "cli/answers/tables/analyze.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "cli/answers/tables/summary.h"
#include "cli/answers/tables/write_tables.h"
#include "cli/base/error.h"
#include "cli/base/output_file.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/options.h"
#include "cli/timeline/gpu/name_rules.h"

namespace cli {
namespace {

struct AnalyzeOptions {
  std::shared_ptr<InputOptions> inputs;
  std::shared_ptr<SelectionOptions> selection;
  std::shared_ptr<PeakOptions> peaks;
  std::shared_ptr<std::size_t> memory_mib;
  std::vector<std::string> only;
  GroupBy by = GroupBy::none;
  std::string by_word, format = "text", sort, output = "-", classes;
  std::optional<std::size_t> limit;
  bool list = false;
  double flops_per_step = 0;
};

// True if no analysis was chosen.
bool wants_summary(const AnalyzeOptions& options) {
  return options.only.empty() && options.by == GroupBy::none && options.sort.empty() && !options.limit &&
         options.format == "text";
}

[[noreturn]] void refuse_analyze(const std::string& why) { throw Error(Exit::usage, why); }

std::vector<std::string_view> names_of_analyses() {
  std::vector<std::string_view> names;
  for (const AnalysisEntry& entry : analyses()) names.push_back(entry.name);
  return names;
}

std::vector<const AnalysisEntry*> chosen_analyses(const AnalyzeOptions& options) {
  std::vector<const AnalysisEntry*> chosen;
  for (const AnalysisEntry& entry : analyses()) {
    if (options.only.empty() && !entry.on_request) chosen.push_back(&entry);
  }
  for (const std::string& name : options.only) {
    const auto& all = analyses();
    const auto found = std::ranges::find(all, name, &AnalysisEntry::name);
    if (found == all.end())
      refuse_analyze(fmt::format("--only {}: no such table{}; tables: {}", name,
                                 did_you_mean(name, names_of_analyses()), fmt::join(names_of_analyses(), ", ")));
    if (std::ranges::find(chosen, &*found) == chosen.end()) chosen.push_back(&*found);
  }
  return chosen;
}

bool can(const AnalysisEntry& entry, GroupBy by) { return std::ranges::find(entry.by, by) != entry.by.end(); }

// Returns true if `name` is the key of the column or its title in text tables.
bool is_called(const Column& column, std::string name) {
  if (column.key == name) return true;
  std::ranges::replace(name, '_', ' ');
  return column_title(column) == name;
}

void check_words(const AnalyzeOptions& options, const std::vector<const AnalysisEntry*>& chosen,
                 const NameRules* class_rules) {
  if (!find_table_format(options.format)->holds_several && chosen.size() > 1)
    refuse_analyze(fmt::format("--format {}: this format has one table; choose it, as in --only {}", options.format,
                               chosen.front()->name));
  if (options.by != GroupBy::none &&
      std::ranges::none_of(chosen, [&](auto* entry) { return can(*entry, options.by); })) {
    refuse_analyze(fmt::format("--by {}: {} has no such rows", options.by_word, chosen.front()->name));
  }
  if (class_rules != nullptr && !class_rules->has_class(kCommunicationClass) &&
      std::ranges::none_of(chosen,
                           [](auto* entry) { return entry->name == "classes" || entry->name == "critical_path"; })) {
    refuse_analyze(fmt::format(
        "--classes {}: no class {} in the file; all tables except classes and critical_path need it; choose one of these two, as in --only classes",
        options.classes, kCommunicationClass));
  }
  if (options.sort.empty()) return;
  std::vector<std::string_view> keys;
  const auto has = [&](const AnalysisEntry* entry) {
    const auto columns = entry->columns({can(*entry, options.by) ? options.by : entry->by.front(), true});
    for (const Column& column : columns) keys.push_back(column.key);
    return std::ranges::any_of(columns, [&](const Column& column) { return is_called(column, options.sort); });
  };
  if (std::ranges::none_of(chosen, has))
    refuse_analyze(fmt::format("--sort {}: no such column{}; `tracetool analyze --list` lists them", options.sort,
                               did_you_mean(options.sort, keys)));
}

// Sorts numbers in descending order and names in ascending order, with unknown values last. Returns false if there is
// no such column.
bool sort_rows(ResultTable& table, const std::string& key) {
  const auto column = std::ranges::find_if(table.columns, [&](const Column& c) { return is_called(c, key); });
  if (column == table.columns.end()) return false;
  const std::size_t at = static_cast<std::size_t>(column - table.columns.begin());
  const auto is_known = [](const Cell& cell) { return !std::holds_alternative<std::monostate>(cell); };
  std::ranges::stable_sort(table.rows, [&](const auto& a, const auto& b) {
    if (!is_known(a[at]) || !is_known(b[at])) return is_known(a[at]) && !is_known(b[at]);
    return std::holds_alternative<std::string>(a[at]) ? a[at] < b[at] : b[at] < a[at];
  });
  return true;
}

void limit_rows(ResultTable& table, std::size_t most) {
  if (table.rows.size() <= most) return;
  print_line("tracetool: {}: showing {} of {} rows (--limit)", table.name, most, table.rows.size());
  table.rows.resize(most);
}

std::string list_text() {
  std::string out;
  for (const AnalysisEntry& entry : analyses()) {
    out += fmt::format("{}{}: {}{}\n", out.empty() ? "" : "\n", entry.name, entry.meaning,
                       entry.on_request ? " (with --only)" : "");
    Table table({"  column", "meaning"});
    const GroupBy most = can(entry, GroupBy::step)   ? GroupBy::step
                         : can(entry, GroupBy::rank) ? GroupBy::rank
                                                     : GroupBy::none;
    const auto columns = entry.columns({most, true}), always = entry.columns({entry.by[0], true});
    for (const Column& column : columns) {
      const bool sometimes = std::ranges::find(always, column.key, &Column::key) == always.end() &&
                             (column.key == "step" || column.key == "rank");
      table.add({"  " + std::string(column.key),
                 std::string(column.meaning) + (sometimes ? fmt::format(" (with --by {})", column.key) : "")});
    }
    const std::string text = table.text();
    out += text.substr(text.find('\n') + 1);
  }
  return out;
}

void run_analyze(AnalyzeOptions options) {
  if (options.list) return write_output("-", list_text());
  AnalysisRequest request;
  const bool summary = wants_summary(options);
  request.analyses = summary ? summary_analyses() : chosen_analyses(options);
  request.by = options.by;
  request.flops_per_step = options.flops_per_step;
  request.selection = selection_of(*options.selection);
  const std::optional<NameRules> class_rules = read_class_rules(options.classes, options.output);
  request.class_rules = class_rules ? &*class_rules : nullptr;
  check_words(options, request.analyses, request.class_rules);
  const OwnPeaks own_peaks = options.peaks->peaks();
  request.own_peaks = &own_peaks;
  const auto inputs = find_inputs(*options.inputs);
  refuse_input_as_output(inputs, options.output);
  const auto trace = read_inputs(inputs, *options.memory_mib, options.output, analyzed_events(request.analyses), true);
  const FoundFacts found = find_facts(*trace);
  AnalysisResult result = analyze(*trace, found.facts, found.steps_found, request);
  print_notes(result.notes);
  make_text_for(options.output);
  if (summary) return write_output(options.output, summary_text(result.tables, inputs_text(*options.inputs)));
  bool sorted = options.sort.empty();
  for (ResultTable& table : result.tables) {
    sorted = (!options.sort.empty() && sort_rows(table, options.sort)) || sorted;
    if (options.limit) limit_rows(table, *options.limit);
  }
  if (!sorted)
    print_line("tracetool: --sort {}: no printed table has this column; the tables are not sorted", options.sort);
  write_output(options.output, find_table_format(options.format)->write(result.tables));
}

std::function<void()> set_up_analyze(CLI::App& app) {
  auto options = std::make_shared<AnalyzeOptions>();
  options->inputs = add_inputs(app);
  add_list(
      app, "--only", options->only, "NAME,...",
      "Print only these tables, in this order (default: a summary; with --by, --sort, --limit or --format: temporal, steps, kernels)");
  one_of(app.add_option("--by", options->by_word,
                        "Print a row per step, rank, input shape or stack, in tables that have them"),
         "step|rank|shape|stack")
      ->each([options = options.get()](const std::string& word) {
        options->by = word == "step"    ? GroupBy::step
                      : word == "rank"  ? GroupBy::rank
                      : word == "shape" ? GroupBy::shape
                                        : GroupBy::stack;
      });
  add_text(
      app, "--classes", options->classes, "FILE",
      "File of kernel name rules that take precedence, or kempnerforge. Its class communication applies to all tables");
  one_of(app.add_option("--format", options->format, "Output format (default: text)"), "text|json|csv|md");
  add_text(app, "--sort", options->sort, "COLUMN", "Sort by this column, largest numbers first");
  app.add_option("--limit", options->limit, "Print at most N rows per table")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40).description(""))
      ->type_name("N");
  app.add_option("--flops-per-step", options->flops_per_step,
                 "Floating-point operations per step and rank (1.2e15), for mfu")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  options->peaks = add_peaks(app);
  app.add_flag("--list", options->list, "List the tables and their columns");
  options->selection = add_selection(app);
  add_text(app, "-o,--output", options->output, "FILE", "Output file; - is stdout (default)");
  options->memory_mib = add_memory(app);
  return [options] { run_analyze(*options); };
}

}  // namespace

Command analyze_command() {
  return {
      "analyze", "Show where the time went: a summary on one screen, or tables (see --list)",
      "Times are per rank and exact to the nanosecond. With --steps or --time, work counts only for the time that it runs in\n"
      "the range, no matter when it was launched. Collectives are compared across ranks by aligned clocks. A collective is\n"
      "shown with all its ranks if a selected rank takes part in it at a selected time.\n"
      "\n"
      "  tracetool analyze traces/\n"
      "  tracetool analyze run.ttrace --only temporal --by step --steps 10-12\n"
      "  tracetool analyze run.ttrace --only kernels --limit 20\n"
      "  tracetool analyze run.ttrace --only collectives,comm\n"
      "  tracetool analyze run.ttrace --only stragglers\n"
      "  tracetool analyze run.ttrace --only temporal --format json | jq '.temporal[].exposed_comm_ns'",
      set_up_analyze};
}

}  // namespace cli
