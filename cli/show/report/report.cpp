#include "cli/show/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "cli/answers/memory/from_trace.h"
#include "cli/answers/tables/call_paths.h"
#include "cli/show/report/page.h"
#include "cli/show/report/section.h"

namespace cli::report {
namespace {

std::vector<const AnalysisEntry*> shown_analyses() {
  std::vector<const AnalysisEntry*> chosen;
  for (const AnalysisEntry& entry : analyses()) {
    const bool shown = std::any_of(sections().begin(), sections().end(), [&](const SectionEntry& section) {
      return std::ranges::find(section.tables, entry.name) != section.tables.end();
    });
    if (shown) chosen.push_back(&entry);
  }
  return chosen;
}

void add_new(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  for (const std::string& note : more) {
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  }
}

void leave_out(std::vector<std::string>& notes, const std::vector<std::string>& said) {
  std::erase_if(notes, [&](const std::string& note) { return std::ranges::find(said, note) != said.end(); });
}

std::vector<bool> chosen_processes(const Catalog& catalog, const Selection& selection) {
  std::vector<bool> chosen;
  for (const Process& process : catalog.processes)
    chosen.push_back(!selection.ranks || (process.rank >= 0 && selection.ranks->holds(process.rank)));
  return chosen;
}

constexpr std::size_t kMostGpuSteps = 100'000;  // limit for rows of a table by step

// Returns the request for the tables by step. It has no tables if there are no steps, and only the last steps if there are very many.
AnalysisRequest by_step(const AnalysisRequest& shown, const std::vector<ProcessSteps>& found,
                        const std::vector<bool>& chosen) {
  AnalysisRequest request;
  request.by = GroupBy::step;
  request.selection = shown.selection;
  request.class_rules = shown.class_rules;
  std::set<std::int64_t> numbers;
  std::size_t processes = 0;
  for (ProcessId id = 0; id < found.size(); ++id) {
    if (!chosen[id] || found[id].steps.empty()) continue;
    ++processes;
    for (const Step& step : found[id].steps) numbers.insert(step.number);
  }
  if (numbers.empty()) return request;
  const std::size_t most = std::max<std::size_t>(1, kMostGpuSteps / processes);
  if (numbers.size() > most && !request.selection.steps) {
    const auto first = std::prev(numbers.end(), static_cast<std::ptrdiff_t>(most));
    request.selection.steps.emplace("--steps", fmt::format("{}-", *first));
  }
  for (const AnalysisEntry& entry : analyses()) {
    if (entry.name == "temporal" || entry.name == "idle" || entry.name == "memory") request.analyses.push_back(&entry);
  }
  return request;
}

}  // namespace

EventChoice reported_events() {
  TimelineSection nowhere;
  return rules::diagnosed_events(
      rules::all_rules(), shown_analyses(),
      timeline_observer({}, nowhere).needs.kinds | CallPaths::kinds() | memory::TraceMemory::kinds());
}

Report make_report(OrderedTrace& trace, const TraceFacts& facts, const std::vector<ProcessSteps>& found,
                   const ReportRequest& request) {
  TimelineSection timeline;
  AnalysisRequest shown;
  shown.analyses = shown_analyses();
  shown.selection = request.selection;
  shown.class_rules = request.class_rules;
  shown.own_peaks = request.own_peaks;
  shown.observers.push_back(timeline_observer(request.timeline, timeline));
  WaitTables waits;
  shown.observers.push_back(waits_observer(waits));
  FlameTree flame;
  shown.observers.push_back(flame_observer(flame));
  std::string memory;
  shown.observers.push_back(memory_observer(request.inputs, memory));
  const rules::DiagnosisRequest diagnosed{rules::all_rules(), request.selection, request.inputs, request.class_rules,
                                          request.own_peaks};
  rules::DiagnosisRun diagnosis(trace.catalog(), facts, diagnosed);
  std::vector<AnalysisResult> results = analyze_each(
      trace, facts, found,
      {shown, diagnosis.analysis(), by_step(shown, found, chosen_processes(trace.catalog(), request.selection))});

  ReportFacts page{trace.catalog(),
                   trace.fits(),
                   std::move(results[0].tables),
                   std::move(results[2].tables),
                   std::move(waits),
                   std::move(flame),
                   diagnosis.finish(results[1]),
                   timeline.html,
                   request.inputs,
                   request.selected,
                   chosen_processes(trace.catalog(), request.selection),
                   request.recorder,
                   request.clocks,
                   {},
                   std::move(memory)};
  add_new(page.notes, results[0].notes);
  leave_out(page.diagnosis.notes, page.notes);
  std::vector<std::string> notes = page.notes;
  add_new(notes, timeline.notes);       // already in the timeline's section
  add_new(page.notes, trace.warnings);  // already printed when the trace was read
  return {page_html(request.title, page), page.diagnosis.findings.size(), notes};
}

}  // namespace cli::report
