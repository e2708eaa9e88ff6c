#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/analyze/name_rules.h"
#include "cli/analyze/write_tables.h"
#include "cli/commands/commands.h"
#include "cli/commands/compared_runs.h"
#include "cli/commands/input_options.h"
#include "cli/compare/diff_tables.h"
#include "cli/compare/regressions.h"
#include "cli/io/output_file.h"
#include "cli/io/shell_word.h"
#include "cli/io/units.h"
#include "cli/model/error.h"
#include "cli/model/rank_list.h"

namespace cli {
namespace {

struct CheckOptions {
  std::string file, baseline, baseline_run, summary, classes;
  std::shared_ptr<ComparedRun> run;  // what is chosen of both
  RegressionLimits limits;
  std::shared_ptr<std::size_t> memory_mib;
  bool json = false;
};

void refuse_without_steps(const RunProfile& run, const std::string& path) {
  const std::string see = fmt::format("`tracetool analyze {} --only steps` shows what there is", shell_word(path));
  if (run.whole || run.steps.empty()) {
    throw Error(Exit::bad_content, fmt::format("{}: no training steps {}; {}", run.source, run.whole ? "were found in what is chosen" : "that all its ranks have as a whole", see));
  }
  const auto busy = run.group(QuantityGroup::step).find(Quantity{std::string(kBusy)});
  const std::vector<std::int64_t> busy_ns = busy == run.group(QuantityGroup::step).end() ? std::vector<std::int64_t>() : busy->second.ns(run.steps.size());
  if (std::all_of(busy_ns.begin(), busy_ns.end(), [](std::int64_t ns) { return ns == 0; })) throw Error(Exit::bad_content, fmt::format("{}: no GPU work in its steps: there is nothing to judge; {}", run.source, see));
}

void refuse_other_ranks(const RunProfile& a, const RunProfile& b) {
  if (a.ranks == b.ranks) return;
  const bool are_known = (a.ranks.empty() || a.ranks.front() >= 0) && (b.ranks.empty() || b.ranks.front() >= 0);
  throw Error(Exit::bad_content, fmt::format("ranks differ: {} in {}, {} in {}; {}", rank_list(a.ranks), a.source, rank_list(b.ranks), b.source,
                                             are_known ? "choose those that both have, as with --ranks 0" : "`tracetool merge --rank N=FILE -o run.ttrace` says which rank a file is of"));
}

// The same comparison, in full.
std::string diff_command(const CheckOptions& options) {
  std::string command = fmt::format("tracetool diff {} {}", shell_word(options.baseline), shell_word(options.file));
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) command += fmt::format(" --{} {}", option, shell_word(value));
  };
  for (const char side : {'a', 'b'}) {
    add(fmt::format("{}-ranks", side), options.run->selection.ranks);
    add(fmt::format("{}-steps", side), options.run->selection.steps);
    add(fmt::format("{}-time", side), options.run->selection.time);
    add(fmt::format("{}-run", side), side == 'a' ? options.baseline_run : options.run->inputs.run);
  }
  add("classes", options.classes);
  return command;
}

void write_summary(const std::string& path, const std::string& verdict, const std::vector<JudgedChange>& judged) {
  OutputFile out(path);
  out.write(fmt::format("### tracetool check\n\n{}\n\n{}", verdict, find_table_format("md")->write({regression_table(judged, true)})));
  out.finish();
}

// What regressed: "the step and 1 class".
std::string regressed_text(const std::vector<JudgedChange>& judged) {
  const bool step = judged.front().regressed;
  const auto classes = static_cast<std::uint64_t>(std::count_if(judged.begin() + 1, judged.end(), [](const JudgedChange& each) { return each.regressed; }));
  return std::string(step ? "the step" : "") + (step && classes > 0 ? " and " : "") + (classes > 0 ? count_text(classes, "class", "classes") : "");
}

std::string not_judged_text(const Comparison& comparison, const RegressionLimits& limits) {
  const std::vector<std::string> names = classes_of_one_run(comparison, limits);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "; not judged, as only one of the runs has it: " : ", ") + name;
  return text;
}

std::string verdict_of(const CheckOptions& options, const Comparison& comparison, const std::vector<JudgedChange>& judged) {
  const bool few = !comparison.has_noise;
  const std::string step = change_summary("step", judged.front().change);
  if (few) return fmt::format("too few steps to judge: {} in the baseline, {} now, and {} are needed; {}", judged.front().change.a.steps, judged.front().change.b.steps, kFewestSteps, step);
  if (any_regressed(judged)) return fmt::format("{} regressed by more than {} %: {}", regressed_text(judged), options.limits.most_pct, step);
  return fmt::format("no regression of more than {} %: {}; {} judged", options.limits.most_pct, step, count_text(judged.size() - 1, "class is", "classes are")) +
         not_judged_text(comparison, options.limits);
}

void run_check(const CheckOptions& options) {
  if (options.summary == "-") throw Error(Exit::usage, "--summary -: stdout has the verdict; name a file");
  ComparedRun now = *options.run, before = *options.run;
  now.inputs.paths = {options.file};
  before.inputs.paths = {options.baseline};
  before.inputs.run = options.baseline_run;
  std::optional<NameRules> class_rules;
  if (!options.classes.empty()) class_rules.emplace(read_name_rules(options.classes));
  const ProfileRequest request{*options.memory_mib, options.summary.empty() ? "-" : options.summary, class_rules ? &*class_rules : nullptr, false};
  const RunProfile a = read_profile(before, request), b = read_profile(now, request);
  refuse_without_steps(a, options.baseline);
  refuse_without_steps(b, options.file);
  refuse_other_ranks(a, b);
  const Comparison comparison = compare_runs(a, b, 0);
  const std::vector<JudgedChange> judged = judge_regressions(comparison, options.limits);
  const std::string verdict = verdict_of(options, comparison, judged);
  if (!options.summary.empty()) write_summary(options.summary, verdict, judged);
  OutputFile out("-");
  if (options.json) {
    out.write(find_table_format("json")->write({regression_table(judged, true)}));
  } else {
    out.write(any_regressed(judged) ? find_table_format("text")->write({regression_table(judged, false)}) : verdict + "\n");
  }
  out.finish();
  if (any_regressed(judged)) throw Error(Exit::gate_failed, fmt::format("check failed: {}; next: {}", verdict, diff_command(options)));
}

std::function<void()> set_up_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("FILE", options->file, "The trace to judge: a file, a directory (its newest run) or a glob in quotes")->check(not_empty())->required();
  app.add_option("--baseline", options->baseline, "The trace that it is compared with, of the same ranks")->check(not_empty())->required()->type_name("FILE");
  app.add_option("--max-regress", options->limits.most_pct, "A step or a class of kernels that takes PCT % longer, and longer by more than the noise, fails the check")
      ->check(CLI::Range(0.0, 10'000.0).description(""))
      ->required()
      ->type_name("PCT");
  app.add_option("--min-share", options->limits.least_share_pct, "Classes of less than PCT % of the step are not judged (default: 1)")->check(CLI::Range(0.0, 100.0).description(""))->type_name("PCT");
  app.add_option("--summary", options->summary, "Writes what was judged as Markdown, for a pull request")->check(not_empty())->type_name("FILE");
  app.add_flag("--json", options->json, "Prints all that was judged, as JSON");
  app.add_option("--classes", options->classes, "A file of rules for classes that are asked first, or kempnerforge")->check(not_empty())->type_name("FILE");
  app.add_option("--baseline-run", options->baseline_run, "Of the baseline, the same")->check(not_empty())->type_name("NAME");
  options->run = add_compared_run(app, "", "both", "FILE");
  options->memory_mib = add_memory(app);
  return [options] { run_check(*options); };
}

}  // namespace

Command check_command() {
  return {"check", "Is a run slower than its baseline? For CI: exit 4 when its step, or a class of kernels, regressed",
          "Medians over the training steps of both, without warm-up, are judged with the noise of their steps (docs/diff.md).\n"
          "Exit: 0 no regression, or fewer than 8 steps on a side; 4 a regression, with a table; 3 runs that cannot be compared.\n"
          "\n"
          "  tracetool check traces/ --baseline baseline.ttrace --max-regress 3\n"
          "  tracetool check traces/ --baseline baseline.ttrace --max-regress 3 --summary summary.md",
          set_up_check};
}

}  // namespace cli
