
#include <algorithm>

#include "cli/answers/rules/write_findings.h"
#include "cli/base/error.h"
#include "cli/base/output_file.h"
#include "cli/base/terminal.h"
#include "cli/commands/commands.h"
#include "cli/commands/options.h"

namespace cli {
namespace {

struct DiagnoseOptions {
  std::shared_ptr<InputOptions> inputs;
  std::shared_ptr<SelectionOptions> selection;
  std::shared_ptr<PeakOptions> peaks;
  std::shared_ptr<std::size_t> memory_mib;
  std::vector<std::string> only;
  std::string format = "text", output = "-", classes;
  bool list = false;
};

std::vector<const rules::RuleEntry*> chosen_rules(const DiagnoseOptions& options) {
  std::vector<const rules::RuleEntry*> chosen;
  for (const rules::RuleEntry& rule : rules::rule_entries()) {
    if (options.only.empty() || std::ranges::find(options.only, rule.name) != options.only.end())
      chosen.push_back(&rule);
  }
  for (const std::string& name : options.only) {
    if (std::ranges::none_of(chosen, [&](const rules::RuleEntry* rule) { return rule->name == name; })) {
      std::vector<std::string_view> names;
      for (const rules::RuleEntry& rule : rules::rule_entries()) names.push_back(rule.name);
      throw Error(Exit::usage, "--only {}: no such rule{}; `tracetool diagnose --list` lists them", name,
                  did_you_mean(name, names));
    }
  }
  return chosen;
}

std::string rules_text() {
  Table table({"rule", "fires when", "source"});
  for (const rules::RuleEntry& rule : rules::rule_entries())
    table.add({std::string(rule.name), std::string(rule.fires), std::string(rule.source)});
  return table.text();
}

void run_diagnose(const DiagnoseOptions& options) {
  if (options.list) return write_output("-", rules_text());
  rules::DiagnosisRequest request;
  request.rules = chosen_rules(options);
  request.selection = selection_of(*options.selection);
  request.inputs = inputs_text(*options.inputs);
  const std::optional<NameRules> class_rules = read_class_rules(options.classes, options.output);
  request.class_rules = class_rules ? &*class_rules : nullptr;
  const OwnPeaks own_peaks = options.peaks->peaks();
  request.own_peaks = &own_peaks;
  const auto inputs = find_inputs(*options.inputs);
  refuse_input_as_output(inputs, options.output);
  const auto trace =
      read_inputs(inputs, *options.memory_mib, options.output, rules::diagnosed_events(request.rules), true);
  const FoundFacts found = find_facts(*trace);
  const rules::Diagnosis diagnosis = rules::diagnose(*trace, found.facts, found.steps_found, request);
  make_text_for(options.output);
  OutputFile out(options.output);
  if (options.format == "json") {
    rules::write_findings_json(diagnosis, out);
  } else {
    out.write(rules::findings_text(diagnosis));
  }
  out.finish();
}

std::function<void()> set_up_diagnose(CLI::App& app) {
  auto options = std::make_shared<DiagnoseOptions>();
  options->inputs = add_inputs(app);
  add_list(app, "--only", options->only, "NAME,...", "Run only these rules. May be repeated");
  one_of(app.add_option("--format", options->format, "Output format (default: text)"), "text|json");
  add_text(app, "--classes", options->classes, "FILE", "File of kernel name rules that take precedence (see analyze)");
  options->peaks = add_peaks(app);
  app.add_flag("--list", options->list, "List the rules with their conditions and sources");
  options->selection = add_selection(app);
  app.remove_option(app.get_option("--kinds"));  // rules always use all kinds
  add_text(app, "-o,--output", options->output, "FILE", "Output file; - is stdout (default)");
  options->memory_mib = add_memory(app);
  return [options] { run_diagnose(*options); };
}

}  // namespace

Command diagnose_command() {
  return {
      "diagnose", "List problems with evidence, advice and the maximum time saved",
      "Each finding contains evidence (times for `export --time`), an upper bound on the time saved, and the next command.\n"
      "Warm-up steps are excluded. If a run hung or was killed, a finding lists the ranks that had entered a collective and\n"
      "the ranks that had not. Prints no findings if nothing is wrong.\n"
      "\n"
      "  tracetool diagnose traces/\n"
      "  tracetool diagnose run.ttrace --steps 10-20 --ranks 0-7\n"
      "  tracetool diagnose run.ttrace --format json | jq '.findings[0].rule'\n"
      "  tracetool diagnose --list",
      set_up_diagnose};
}

}  // namespace cli
