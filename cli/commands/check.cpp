
#include <algorithm>

#include "cli/answers/compare/diff_tables.h"
#include "cli/answers/compare/regressions.h"
#include "cli/answers/tables/write_tables.h"
#include "cli/base/error.h"
#include "cli/base/output_file.h"
#include "cli/base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/compared_runs.h"
#include "cli/commands/options.h"
#include "cli/trace/ranks.h"

namespace cli {
namespace {

struct CheckOptions {
  std::string file, baseline, baseline_run, summary, classes;
  std::shared_ptr<ComparedRun> run;  // the selection for both runs
  comparison::RegressionLimits limits;
  std::shared_ptr<std::size_t> memory_mib;
  bool json = false, allow_unjudged = false;
};

void refuse_without_steps(const comparison::RunProfile& run, const std::string& path) {
  const std::string see = fmt::format("`tracetool analyze {} --only steps` lists the steps", shell_word(path));
  if (run.whole || run.steps.empty())
    throw Error(Exit::bad_content, "{}: no training steps{}; {}", run.source,
                run.whole ? " were found in the selection" : " are complete on all its ranks", see);
  const auto busy =
      run.group(comparison::QuantityGroup::step).find(comparison::Quantity{std::string(comparison::kBusy)});
  const std::vector<std::int64_t> busy_ns = busy == run.group(comparison::QuantityGroup::step).end()
                                                ? std::vector<std::int64_t>()
                                                : busy->second.ns(run.steps.size());
  if (std::ranges::all_of(busy_ns, [](std::int64_t ns) { return ns == 0; }))
    throw Error(Exit::bad_content, "{}: no GPU work in its steps; {}", run.source, see);
}

void refuse_other_ranks(const comparison::RunProfile& a, const comparison::RunProfile& b) {
  if (a.ranks == b.ranks) return;
  const bool are_known = (a.ranks.empty() || a.ranks.front() >= 0) && (b.ranks.empty() || b.ranks.front() >= 0);
  throw Error(Exit::bad_content, "ranks differ: {} in {}, {} in {}; {}", rank_list(a.ranks), a.source,
              rank_list(b.ranks), b.source,
              are_known ? "choose ranks that both have, as in --ranks 0"
                        : "`tracetool merge --rank N=FILE -o run.ttrace` sets the rank of a file");
}

// Returns the command for the same comparison in full.
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

void write_summary(const std::string& path, const std::string& verdict, const comparison::Judgements& judgements) {
  write_output(path, fmt::format("### tracetool check\n\n{}\n\n{}", markdown_text(verdict),
                                 find_table_format("md")->write(comparison::judged_tables(judgements))));
}

// Returns what regressed: "the step and 1 class"; kernels if no class did.
std::string regressed_text(const comparison::Judgements& judgements) {
  const auto regressed = [&](comparison::JudgedWhat what) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(judgements.changes, [&](const comparison::JudgedChange& each) {
          return each.what == what && each.judgement == comparison::Judgement::regressed;
        }));
  };
  const std::uint64_t classes = regressed(comparison::JudgedWhat::work_class),
                      kernels = regressed(comparison::JudgedWhat::kernel);
  const bool step = regressed(comparison::JudgedWhat::step) > 0;
  return std::string(step ? "the step" : "") + (step && classes + kernels > 0 ? " and " : "") +
         (classes > 0   ? count_text(classes, "class", "classes")
          : kernels > 0 ? count_text(kernels, "kernel")
                        : "");
}

std::string not_judged_text(const comparison::Comparison& comparison, const comparison::Judgements& judgements,
                            const comparison::RegressionLimits& limits) {
  std::vector<std::string> unclear;
  for (const comparison::JudgedChange& each : judgements.changes) {
    if (each.what != comparison::JudgedWhat::kernel && each.judgement == comparison::Judgement::unclear)
      unclear.push_back(each.what == comparison::JudgedWhat::step ? "the step" : each.change.quantity->name);
  }
  const std::vector<std::string> of_one = comparison::classes_of_one_run(comparison, limits);
  std::string text;
  if (!unclear.empty()) text += fmt::format("; not judged because of noise: {}", fmt::join(unclear, ", "));
  if (!of_one.empty()) text += fmt::format("; not judged because only one run has it: {}", fmt::join(of_one, ", "));
  return text;
}

std::string verdict_of(const CheckOptions& options, const comparison::Comparison& comparison,
                       const comparison::Judgements& judgements) {
  const comparison::Change& change = judgements.changes.front().change;
  const std::string step = comparison::change_summary("step", change);
  if (!change.noise_ns)
    return fmt::format("too few steps to judge: {} in the baseline and {} now, but {} are needed; {}", change.a.steps,
                       change.b.steps, comparison::kFewestBounded, step);
  if (judgements.verdict == comparison::Judgement::regressed)
    return fmt::format("{} regressed by more than {} %: {}", regressed_text(judgements), options.limits.most_pct, step);
  const bool passed = judgements.verdict == comparison::Judgement::passed;
  return fmt::format("{} of more than {} %: {}; {}{}", passed ? "no regression" : "too much noise to see a regression",
                     options.limits.most_pct, step, comparison::seen_text(judgements),
                     not_judged_text(comparison, judgements, options.limits));
}

void run_check(const CheckOptions& options) {
  if (options.summary == "-") throw Error(Exit::usage, "--summary -: the verdict goes to stdout; give a file");
  ComparedRun now = *options.run, before = *options.run;
  now.inputs.paths = {options.file};
  before.inputs.paths = {options.baseline};
  before.inputs.run = options.baseline_run;
  const std::optional<NameRules> class_rules = read_class_rules(options.classes, options.summary);
  const ProfileRequest request{*options.memory_mib, options.summary.empty() ? "-" : options.summary,
                               class_rules ? &*class_rules : nullptr, false};
  const comparison::RunProfile a = read_profile(before, request), b = read_profile(now, request);
  refuse_without_steps(a, options.baseline);
  refuse_without_steps(b, options.file);
  refuse_other_ranks(a, b);
  const comparison::Comparison comparison = comparison::compare_runs(a, b, 0);
  const comparison::Judgements judgements = comparison::judge_regressions(comparison, options.limits);
  const bool regressed = judgements.verdict == comparison::Judgement::regressed;
  const std::string verdict = verdict_of(options, comparison, judgements);
  if (!options.summary.empty()) write_summary(options.summary, verdict, judgements);
  write_output("-", options.json ? find_table_format("json")->write(comparison::judged_tables(judgements))
                    : regressed  ? find_table_format("text")->write({comparison::regressed_table(judgements)})
                                 : visible_text(verdict) + "\n");
  const std::string next = diff_command(options);
  if (regressed) throw Error(Exit::gate_failed, "check failed: {}; next: {}", verdict, next);
  if (judgements.verdict == comparison::Judgement::passed || options.allow_unjudged) return;
  throw Error(Exit::not_judged,
              "not judged: {}; record more steps, raise --max-regress, or accept it with --allow-unjudged; next: {}",
              verdict, next);
}

std::function<void()> set_up_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  add_text(app, "FILE", options->file, "TEXT", "Trace to judge: a file, a directory (its newest run) or a quoted glob")
      ->required();
  add_text(app, "--baseline", options->baseline, "FILE", "Trace to compare with, of the same ranks")->required();
  app.add_option("--max-regress", options->limits.most_pct,
                 "Fail if a step, class or kernel takes PCT % longer and the change exceeds the noise")
      ->check(CLI::Range(0.0, 10'000.0).description(""))
      ->required()
      ->type_name("PCT");
  app.add_option("--min-share", options->limits.least_share_pct,
                 "Judge only classes and kernels with at least PCT % of the step (default: 1)")
      ->check(CLI::Range(0.0, 100.0).description(""))
      ->type_name("PCT");
  add_text(app, "--summary", options->summary, "FILE", "Write the judged rows as Markdown, for a pull request");
  app.add_flag("--json", options->json, "Print all judged rows as JSON");
  app.add_flag("--allow-unjudged", options->allow_unjudged, "Exit 0 instead of 5 if the runs cannot be judged");
  add_text(app, "--classes", options->classes, "FILE",
           "File of kernel name rules that take precedence, or kempnerforge");
  add_text(app, "--baseline-run", options->baseline_run, "NAME",
           "Run of the baseline, if it is a directory: a name from `tracetool runs` (default: latest)");
  options->run = add_compared_run(app, "", "both", "FILE");
  options->memory_mib = add_memory(app);
  return [options] { run_check(*options); };
}

}  // namespace

Command check_command() {
  return {
      "check", "Fail if a run is slower than its baseline, for CI",
      "Compares medians over the training steps without warm-up, and judges them by the noise of the steps (docs/diff.md).\n"
      "Each run needs at least 3 steps. The output contains the smallest change that could have been detected.\n"
      "Exit status: 0 no regression, 4 a regression (with a table), 5 too few steps or too much noise to judge,\n3 the runs cannot be compared.\n"
      "\n"
      "  tracetool check traces/ --baseline baseline.ttrace --max-regress 3\n"
      "  tracetool check traces/ --baseline baseline.ttrace --max-regress 3 --summary summary.md",
      set_up_check};
}

}  // namespace cli
