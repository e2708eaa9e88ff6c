// A rule of diagnose: a symptom, how it is recognized, and what to do. A rule is a file and a line in rules.cpp. It reads
// the trace in the one walk of all analyses, uses their tables, and returns findings. It returns none if nothing is wrong: its
// thresholds are constants of its file, next to their source.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/answers/rules/gap_claims.h"
#include "cli/answers/rules/rule_inputs.h"
#include "cli/answers/tables/analysis.h"
#include "cli/answers/tables/analysis_table.h"

namespace cli::rules {

// A finding of a rule: the problem, its evidence, the maximum time saved, and advice. Plain data; write_findings.h makes
// text and JSON from it.

// A time range that shows the problem, since the start of the trace, in the form of --time; `end_ns` is excluded.
struct Evidence {
  std::int64_t rank = -1;  // -1: unknown
  std::int64_t start_ns = 0, end_ns = 0;
  std::string what;  // "cudaStreamSynchronize in aten::item, then aten::mul"
};

// high: the saving is at least a tenth of the diagnosed time; medium: a thirtieth; low: less, or unknown.
enum class Severity : std::uint8_t { low, medium, high };

struct Finding {
  std::string_view rule;
  Severity severity = Severity::low;  // the lowest severity; a larger saving raises it
  std::string title;  // the problem with its figures: a sentence without the period
  std::vector<std::int64_t> ranks;  // ranks with the problem, ascending
  // Upper bound on the time saved by fixing this alone; the largest of all ranks. Empty if unknown.
  std::optional<std::int64_t> saving_ns;
  std::vector<std::int64_t> rank_savings_ns;  // the same for each of `ranks`; empty if unknown
  // The rule that finds the cause of this. Its findings on the same rank are merged into this finding.
  std::string_view cause_rule;
  std::vector<Evidence> evidence;  // the longest first, at most kMostEvidence; one of each rank if a job is stuck
  std::vector<std::int64_t> steps;  // steps that contain the evidence, ascending; empty if none are known
  std::string advice;               // sentences
  std::string_view source;          // a document that supports it
  std::string next_command;         // shows more detail
};

inline constexpr std::size_t kMostEvidence = 5;

// A time and its share of the diagnosed time: "12.300 ms a step (8.1 %)", or "12.300 ms (8.1 %)" if no steps are known.
std::string per_step_text(const DiagnosisScope& scope, std::int64_t ns);
// "12 times a step", "3 times in 40 steps", "7 times".
std::string times_text(const DiagnosisScope& scope, std::int64_t count);

class Rule : public TraceObserver {
 public:
  // Called after the walk. `tables` contains at least RuleEntry::tables, with a row for each rank if possible. Empty ranks,
  // steps, source and next_command are filled in from the evidence and the entry.
  virtual std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) = 0;
  // Called after find(). Returns why the rule could not check the trace, other than RuleEntry::inputs; "" if it did.
  virtual std::string not_checked(const DiagnosisScope& /*scope*/, const std::vector<ResultTable>& /*tables*/) const { return {}; }

  // Called before all events if RuleEntry::gap_owner is set; `claims` outlives the rule.
  virtual void use(GapClaims& /*claims*/) {}
  // Idle time of RuleEntry::gap_owner.
  virtual void claimed(const ClaimedGap& /*claim*/) {}
  // Called once before find(). Claims with if_no_optimizer count for the processes for which this is true.
  virtual void keep_without_optimizer(const std::vector<bool>& /*processes*/) {}
};

// RuleEntry::make.
template <class Made>
std::unique_ptr<Rule> make_rule(const AnalysisContext& context) {
  return std::make_unique<Made>(context);
}

struct RuleEntry {
  std::string_view name;    // "host-sync"
  std::string_view fires;   // the condition: a sentence
  std::string_view source{};  // a document that a reader can open; "" if none
  std::vector<RuleInput> inputs{};  // without them it is not checked
  std::vector<std::string_view> tables{};  // tables that it reads
  ObserverNeeds needs{};  // for gap_owner: those of GapClaims
  std::optional<GapOwner> gap_owner{};  // the owner of the idle time that it judges
  std::unique_ptr<Rule> (*make)(const AnalysisContext& context);  // the context outlives it
};

const std::vector<RuleEntry>& rule_entries();

// Used by more than one rule.
inline constexpr std::string_view kGarbageCollectionAdvice =
    "Call gc.collect() and gc.freeze() after the model is built, so that later collections skip its objects. Then call gc.disable(), and gc.collect() every N steps, in the same "
    "step on all ranks: collections at different times delay all ranks in turn.";

// The command that has Nsight Compute look at one kernel.

// What ncu calls a kernel where nothing else is asked for (--kernel-name-base function): its function's name, without namespaces,
// template arguments and parameters; of linker names the demangled one's. "" where a name has none.
std::string function_name(std::string_view kernel);

// Of five launches of the kernel, after `skip` of it, in `program` and its children. `program`: as the recording has it; "": unknown.
std::string ncu_command(std::string_view kernel, std::int64_t skip, const std::string& program);

// The longest times of each rank that a rule may show, while it goes through the trace.
class LongestEvidence {
 public:
  // By the clock of the rule's context, `ns` of it the rule's. `what` gives the text, and is asked only where that is among the longest so far.
  template <typename What>
  void add(ProcessId process, std::int64_t start_ns, std::int64_t end_ns, std::int64_t ns, What&& what) {
    std::vector<Time>& times = times_[process];
    if (times.size() == kMostEvidence && times.back().ns >= ns) return;
    const auto at = std::find_if(times.begin(), times.end(), [&](const Time& each) { return each.ns < ns; });
    times.insert(at, {start_ns, end_ns, ns, what()});
    if (times.size() > kMostEvidence) times.pop_back();
  }

  // Adds those of the processes for which `chosen` says so.
  void take(LongestEvidence&& other, const std::vector<bool>& chosen) {
    for (auto& [id, times] : other.times_) {
      if (!chosen[id]) continue;
      for (Time& time : times) add(id, time.start_ns, time.end_ns, time.ns, [&] { return std::move(time.what); });
    }
  }

  // Of these processes, the longest first; of equal ones the first.
  std::vector<Evidence> of(const DiagnosisScope& scope, const std::vector<ProcessId>& processes) const {
    std::vector<std::tuple<std::int64_t, std::int64_t, ProcessId, const Time*>> all;
    for (const ProcessId id : processes) {
      const auto found = times_.find(id);
      if (found == times_.end()) continue;
      for (const Time& time : found->second) all.push_back({-time.ns, scope.since_start(id, time.start_ns), id, &time});
    }
    std::sort(all.begin(), all.end());
    std::vector<Evidence> evidence;
    for (const auto& [ns, start_ns, id, time] : all) {
      if (evidence.size() < kMostEvidence) evidence.push_back({scope.rank(id), start_ns, scope.since_start(id, time->end_ns), time->what});
    }
    return evidence;
  }

 private:
  struct Time {
    std::int64_t start_ns, end_ns, ns;
    std::string what;
  };
  std::map<ProcessId, std::vector<Time>> times_;  // the longest first
};

// The processes for which a rule fires, and the device that loses most.
struct Fired {
  std::vector<ProcessId> processes;  // ascending
  std::vector<std::int64_t> losses_ns;  // by processes: of the device that loses most
  ProcessId most = 0;
  std::int64_t device = -1;  // of `most`
  std::int64_t most_ns = -1;

  // Processes come ascending.
  void add(ProcessId id, std::int64_t of_device, std::int64_t ns) {
    if (processes.empty() || processes.back() != id) {
      processes.push_back(id);
      losses_ns.push_back(ns);
    }
    losses_ns.back() = std::max(losses_ns.back(), ns);
    if (ns > most_ns) most = id, device = of_device, most_ns = ns;
  }
  bool empty() const { return processes.empty(); }
  // With ranks, saving and evidence.
  Finding finding(const DiagnosisScope& scope, const LongestEvidence& evidence) const {
    Finding finding;
    for (const ProcessId id : processes) finding.ranks.push_back(scope.rank(id));
    finding.saving_ns = most_ns;
    finding.rank_savings_ns = losses_ns;
    finding.evidence = evidence.of(scope, processes);
    return finding;
  }
};

}  // namespace cli::rules
