
#include <algorithm>

#include "cli/answers/compare/diff_tables.h"
#include "cli/answers/tables/write_tables.h"
#include "cli/base/error.h"
#include "cli/base/output_file.h"
#include "cli/base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/compared_runs.h"
#include "cli/commands/options.h"
#include "cli/show/report/diff_page.h"

namespace cli {
namespace {

struct DiffOptions {
  std::vector<std::string> paths, only;
  std::shared_ptr<ComparedRun> a, b;
  std::string format = "text", output = "-", classes, html;
  std::optional<double> least_share_pct;
  std::shared_ptr<std::size_t> memory_mib;
  bool all = false, with_nsys = false;
};

bool has_choice(const ComparedRun& run) { return run.selection.any() || !run.inputs.run.empty(); }

void name_sides(DiffOptions& options) {
  if (options.paths.size() > 2)
    throw Error(Exit::usage, "expected two traces, A and B, but {} are given; give a directory, or quote the glob",
                options.paths.size());
  if (options.paths.empty())
    throw Error(Exit::usage, "missing traces; give two, as in `tracetool diff before/ after/`");
  options.a->inputs.paths = {options.paths.front()};
  options.b->inputs.paths = {options.paths.back()};
  options.a->inputs.with_nsys = options.b->inputs.with_nsys = options.with_nsys;
  if (options.paths.size() == 2 || has_choice(*options.a) || has_choice(*options.b)) return;
  throw Error(
      Exit::usage,
      "{} is the only trace; give a second one, or two selections of this one, as in --a-steps 0-9 --b-steps 10-19",
      options.paths.front());
}

void check_only(const DiffOptions& options) {
  const auto& names = comparison::diff_table_names();
  for (const std::string& name : options.only) {
    if (std::ranges::find(names, name) == names.end())
      throw Error(Exit::usage, "--only {}: no such table{}; tables: {}", name, did_you_mean(name, names),
                  fmt::join(names, ", "));
  }
  if (!find_table_format(options.format)->holds_several && options.only.size() != 1)
    throw Error(Exit::usage, "--format {}: this format has one table; choose it, as in --only kernels", options.format);
}

std::vector<ResultTable> chosen_tables(std::vector<ResultTable> tables, const std::vector<std::string>& only) {
  if (only.empty()) return tables;
  std::vector<ResultTable> chosen;
  for (const std::string& name : only) {
    const auto found = std::ranges::find(tables, name, &ResultTable::name);
    if (std::ranges::find(chosen, name, &ResultTable::name) == chosen.end()) chosen.push_back(*found);
  }
  return chosen;
}

void refuse_nothing(const comparison::RunProfile& run, std::string_view side) {
  if (run.steps.empty())
    throw Error(Exit::bad_content,
                "{} ({}): no step is complete on all its ranks; choose other ranks, as in --{}-ranks 0", side,
                run.source, side == "A" ? "a" : "b");
  if (run.gpus == 0)
    throw Error(Exit::bad_content, "{} ({}): no GPU work and no steps; `tracetool info` prints its content", side,
                run.source);
}

// For text output without an explicit limit.
void limit_rows(std::vector<ResultTable>& tables) {
  constexpr std::size_t kMost = 20;
  for (ResultTable& table : tables) {
    if (table.rows.size() <= kMost) continue;
    table.notes.insert(table.notes.begin(),
                       fmt::format("{} more rows: --only {}", table.rows.size() - kMost, table.name));
    table.rows.resize(kMost);
  }
}

// Each line becomes a paragraph.
std::string markdown_paragraphs(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    out += (out.empty() ? "" : "\n") + markdown_text(line) + "\n";
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
  }
  return out;
}

// Returns the words of the command line that select the two runs.
std::string words_of(const DiffOptions& options) {
  std::string words;
  for (const std::string& path : options.paths) words += (words.empty() ? "" : " ") + shell_word(path);
  for (const auto& [run, prefix] : {std::pair(options.a.get(), "--a-"), std::pair(options.b.get(), "--b-")}) {
    std::string chosen = selection_text(run->selection);
    for (std::size_t at = chosen.find(" --"); at != std::string::npos; at = chosen.find(" --", at + 1))
      chosen.replace(at + 1, 2, prefix);
    words += chosen;
    if (!run->inputs.run.empty()) words += fmt::format(" {}run {}", prefix, shell_word(run->inputs.run));
  }
  return words;
}

void run_diff(DiffOptions options) {
  name_sides(options);
  check_only(options);
  const std::optional<NameRules> class_rules = read_class_rules(options.classes, options.output);
  const ProfileRequest request{*options.memory_mib, options.html.empty() ? options.output : options.html,
                               class_rules ? &*class_rules : nullptr, true};
  comparison::RunProfile a = read_profile(*options.a, request), b = read_profile(*options.b, request);
  if (a.whole && !b.whole) b = read_profile(*options.b, request, true);
  if (b.whole && !a.whole) a = read_profile(*options.a, request, true);
  refuse_nothing(a, "A");
  refuse_nothing(b, "B");
  constexpr double kLeastShare = 0.1, kLeastShareOfFew = 1;
  const bool few = std::min(a.steps.size(), b.steps.size()) < comparison::kFewestSteps;
  const comparison::Comparison comparison =
      comparison::compare_runs(a, b, options.least_share_pct.value_or(few ? kLeastShareOfFew : kLeastShare) / 100);
  const TableFormat& format = *find_table_format(options.format);
  const bool for_people = options.only.empty() && !format.is_data;
  std::vector<ResultTable> tables = chosen_tables(comparison::diff_tables(a, b, comparison, options.all), options.only);
  if (!options.html.empty()) {
    const std::string inputs = words_of(options);
    const ResultTable parts = chosen_tables(comparison::diff_tables(a, b, comparison, true), {"parts"}).front();
    const std::string page =
        report::diff_page_html({fmt::format("tracetool diff of {}", inputs), inputs,
                                comparison::diff_verdict(a, b, comparison), std::move(tables), parts});
    write_output(options.html, page);
    print_line("{}: {} bytes", options.html == "-" ? "stdout" : options.html, page.size());
    if (options.html != "-") print_line("next: open {} in a browser", shell_word(options.html));
    return;
  }
  make_text_for(options.output);
  if (for_people) {
    tables.erase(tables.begin());  // the table of runs, which the verdict describes
    if (!options.all) limit_rows(tables);
    const std::string verdict = comparison::diff_verdict(a, b, comparison);
    write_output(options.output, (options.format == "md" ? markdown_paragraphs(verdict) : verdict) +
                                     comparison::diff_text(tables, format));
  } else {
    write_output(options.output, format.write(tables));
  }
}

std::function<void()> set_up_diff(CLI::App& app) {
  auto options = std::make_shared<DiffOptions>();
  app.add_option(
      "PATH", options->paths,
      "Two traces A and B, or one to compare with itself: files, directories (their newest run) or quoted globs");
  options->a = add_compared_run(app, "a-", "A", "A");
  options->b = add_compared_run(app, "b-", "B", "B");
  add_list(app, "--only", options->only, "NAME,...", "Print only these tables, in this order. May be repeated");
  app.add_flag("--all", options->all, "Also print rows that did not change");
  app.add_option("--min-share", options->least_share_pct,
                 "Ignore changes below PCT % of the step (default: 0.1, or 1 if A or B has fewer than 8 steps)")
      ->check(CLI::Range(0.0, 100.0).description(""))
      ->type_name("PCT");
  add_text(app, "--classes", options->classes, "FILE",
           "File of kernel name rules that take precedence, or kempnerforge");
  one_of(app.add_option("--format", options->format, "Output format (default: text)"), "text|json|csv|md");
  add_text(app, "-o,--output", options->output, "FILE", "Output file; - is stdout (default)");
  add_text(app, "--html", options->html, "FILE", "Write an HTML page with charts to this file instead of text");
  add_with_nsys(app, options->with_nsys);
  options->memory_mib = add_memory(app);
  return [options] { run_diff(*options); };
}

}  // namespace

Command diff_command() {
  return {
      "diff", "Compare two runs, or two selections of one run: steps, idle time, kernels, operators, collectives",
      "Compares medians over the training steps, averaged over the GPUs, without warm-up steps. Rows that changed by more than\n"
      "the noise between the steps of a run are marked grew, shrank, appeared or vanished (docs/diff.md).\n"
      "\n"
      "  tracetool diff before/ after/\n"
      "  tracetool diff run.ttrace --a-ranks 1 --b-ranks 3\n"
      "  tracetool diff run.ttrace --a-steps 2-20 --b-steps 80- --only kernels\n"
      "  tracetool diff before/ after/ --html diff.html\n"
      "  tracetool diff before/ after/ --format json | jq '.kernels[] | select(.change == \"appeared\").name'",
      set_up_diff};
}

}  // namespace cli
