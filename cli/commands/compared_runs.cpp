#include "cli/commands/compared_runs.h"

#include <fmt/format.h>

#include "cli/answers/compare/step_profile.h"
#include "cli/answers/tables/analyze.h"
#include "cli/trace/ranks.h"

namespace cli {
namespace {

std::string named(const ComparedRun& run) {
  std::string text = run.inputs.paths.empty() ? std::string() : run.inputs.paths.front();
  const auto add = [&](const std::string& what, const std::string& value) {
    if (!value.empty()) text += fmt::format(" ({} {})", what, value);
  };
  add("run", run.inputs.run);
  add("ranks", run.selection.ranks);
  add("steps", run.selection.steps);
  add("time", run.selection.time);
  return text;
}

bool has_steps(const Steps& steps, const Selection& selection, const Catalog& catalog) {
  const std::vector<bool> beside = beside_ranks(catalog);
  for (ProcessId id = 0; id < steps.size(); ++id) {
    const std::int64_t rank = catalog.processes[id].rank;
    if (!beside[id] && !steps[id].empty() && (!selection.ranks || (rank >= 0 && selection.ranks->holds(rank))))
      return true;
  }
  return false;
}

}  // namespace

std::shared_ptr<ComparedRun> add_compared_run(CLI::App& app, const std::string& prefix, const std::string& of,
                                              const std::string& path) {
  auto run = std::make_shared<ComparedRun>();
  run->prefix = prefix;
  const std::string dashes = "--" + prefix;
  add_text(app, dashes + "ranks", run->selection.ranks, "LIST", "Only these ranks of " + of + ": 0-3,7");
  add_text(app, dashes + "steps", run->selection.steps, "LIST",
           "Only these training steps of " + of + ": 5, 10-12 or 10-");
  add_text(app, dashes + "time", run->selection.time, "A-B",
           "Only this time range of " + of + " and the steps entirely in it: 1.5s-2s, 300ms-, -2s");
  add_text(app, dashes + "run", run->inputs.run, "NAME",
           "Run of " + path + ", if it is a directory: a name from `tracetool runs` (default: latest)");
  return run;
}

comparison::RunProfile read_profile(const ComparedRun& run, const ProfileRequest& request, bool whole) {
  AnalysisRequest analysis;
  analysis.selection = selection_of(run.selection, run.prefix);
  analysis.class_rules = request.class_rules;
  const auto inputs = find_inputs(run.inputs);
  refuse_input_as_output(inputs, request.output);
  const KindSet kinds = request.for_diff ? comparison::operator_kinds() : kinds_of({Kind::runtime, Kind::driver});
  const auto trace = read_inputs(inputs, request.memory_mib, request.output, analyzed_events({}, kinds), true);
  const FoundFacts found = find_facts(*trace);
  comparison::RunProfile profile;
  profile.source = named(run);
  const bool by_steps = !whole && has_steps(found.facts.steps, analysis.selection, trace->catalog());
  analysis.observers = comparison::profile_observers(profile, !by_steps, request.for_diff);
  const AnalysisResult result = analyze(*trace, found.facts, found.steps_found, analysis);
  // The time is within one step
  if (by_steps && profile.steps.empty() && profile.not_everywhere == 0 && analysis.selection.time)
    return read_profile(run, request, true);
  print_notes(result.notes);
  return profile;
}

}  // namespace cli
