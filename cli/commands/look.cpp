#include <fmt/ranges.h>

#include <algorithm>

#include "cli/answers/rules/write_findings.h"
#include "cli/answers/tables/summary.h"
#include "cli/base/output_file.h"
#include "cli/base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/options.h"

namespace cli {
namespace {

constexpr std::size_t kMostFindings = 3;

// Adds "8 processes on 2 hosts, NVIDIA H100 80GB HBM3; 219535 events". Hosts and GPUs are included if the trace has
// their names.
void add_head(std::string& out, const Catalog& catalog) {
  std::set<std::string> hosts, devices;
  std::uint64_t events = 0;
  for (const Process& process : catalog.processes) {
    hosts.insert(process.host);
    devices.insert(process.device_name);
    for (const std::uint64_t count : process.counts) events += count;
  }
  hosts.erase("");
  devices.erase("");
  add_line(out, "{}{}{}{}; {}", count_text(catalog.processes.size(), "process", "processes"),
           hosts.empty() ? "" : " on " + count_text(hosts.size(), "host"), devices.empty() ? "" : ", ",
           fmt::join(devices, ", "), count_text(events, "event"));
}

void add_findings(std::string& out, const rules::Diagnosis& diagnosis) {
  if (diagnosis.processes == 0 && diagnosis.findings.empty()) return;
  out += '\n';
  add_line(out, rules::looked_at_text(diagnosis));
  const std::size_t shown = std::min(kMostFindings, diagnosis.findings.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const rules::Finding& finding = diagnosis.findings[i];
    out += rules::title_line(i + 1, finding);
    add_line(out, "   saving:  {}", rules::saving_text(finding, diagnosis.length_ns));
    add_line(out, "   do:      {}", finding.advice);
    add_line(out, "   next:    {}", finding.next_command);
  }
  if (shown < diagnosis.findings.size())
    add_line(out, "and {}", count_text(diagnosis.findings.size() - shown, "more finding"));
}

void run_look(const InputOptions& options, std::size_t memory_mib) {
  AnalysisRequest summary;
  summary.analyses = summary_analyses();
  rules::DiagnosisRequest diagnosed;
  diagnosed.rules = rules::all_rules();
  diagnosed.inputs = inputs_text(options);
  const auto trace = read_inputs(find_inputs(options), memory_mib, "-",
                                 rules::diagnosed_events(diagnosed.rules, summary.analyses), true);
  const FoundFacts found = find_facts(*trace);
  rules::DiagnosisRun run(trace->catalog(), found.facts, diagnosed);
  const std::vector<AnalysisResult> results =
      analyze_each(*trace, found.facts, found.steps_found, {summary, run.analysis()});
  const rules::Diagnosis diagnosis = run.finish(results[1]);
  std::string text;
  add_head(text, trace->catalog());
  for (const std::string& sentence : summary_sentences(results[0].tables)) add_line(text, sentence);
  add_findings(text, diagnosis);
  text += '\n';
  add_line(text, "next: tracetool diagnose {}", diagnosed.inputs);
  add_line(text, "next: tracetool report {}", diagnosed.inputs);
  write_output("-", text);
}

std::function<void()> set_up_look(CLI::App& app) {
  auto inputs = add_inputs(app);
  auto memory_mib = add_memory(app);
  return [inputs, memory_mib] { run_look(*inputs, *memory_mib); };
}

}  // namespace

Command look_command() {
  return {kCommandOfPaths, "Print a summary of traces, where the time went, and what to change first",
          "The same as `tracetool PATH`.", set_up_look, true};
}

}  // namespace cli
