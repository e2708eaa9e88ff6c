// A rule of `diagnose`: a symptom, how it is recognized, and what to do. A rule is a file and a line in rule.cpp. It
// receives the trace in the common walk of all analyses, reads their tables, and returns findings, or none if nothing
// is wrong. Its thresholds are constants in its file, next to their source.
#pragma once
#include <tuple>

#include "cli/answers/rules/gap_claims.h"
#include "cli/trace/short_name.h"

namespace cli::rules {

// The diagnosed time. Known after the walk.
struct DiagnosedTime {
  // By ProcessId: length of the chosen steps or time; otherwise from the start of its first GPU work to the end of the
  // last
  std::vector<std::int64_t> lengths_ns;
  std::int64_t length_ns = 0;      // the largest length; savings are shares of it
  std::int64_t steps = 0;          // number of steps in that time, of the process with the most; 0 if unknown
  std::vector<bool> has_work{};    // by ProcessId: chosen and with GPU work
  bool has_communication = false;  // some of that work is communication
};

struct DiagnosisScope {
  const AnalysisContext& trace;  // context of the rule; see ObserverNeeds::collectives for its times
  const DiagnosedTime& time;

  // Returns the time since the start of the trace, on the common axis.
  std::int64_t since_start(ProcessId id, std::int64_t ns) const { return trace.since_start(id, ns); }
  std::int64_t rank(ProcessId id) const { return trace.catalog.processes[id].rank; }
};

// Inputs that a rule needs in addition to GPU work. A rule without its inputs is reported as "not checked", which
// differs from "nothing found".
enum class RuleInput : std::uint8_t {
  launches,             // CUDA calls that launch work
  host_ranges,          // operators or ranges of the program
  steps,                // at least one in the diagnosed time
  passes,               // forward and backward passes (table step_phases)
  garbage_collections,  // Python's garbage collections
  overhead_records,     // CUPTI's overhead records
  memory,               // memory in use (table memory)
  device_memory,        // memory in use and total memory of the GPU
  matched_collectives,  // at least one with two or more ranks; needs ObserverNeeds::collectives
  recordings,           // made by tracetool's agent
};

// Returns why the rule cannot check the trace ("no launch calls in the trace", "no launch calls of rank 3"); "" if it
// has the input.
std::string missing_input(RuleInput input, const DiagnosisScope& scope, const std::vector<ResultTable>& tables);

// A finding: the problem, its evidence, the maximum time saved, and advice. Plain data; write_findings.h turns it into
// text and JSON.

// A time range that shows the problem, relative to the start of the trace, as for --time. `end_ns` is excluded.
struct Evidence {
  std::int64_t rank = -1;  // -1 if unknown
  std::int64_t start_ns = 0, end_ns = 0;
  std::string what;  // "cudaStreamSynchronize in aten::item, then aten::mul"
};

// Thresholds on the saving as a share of the diagnosed time. high: at least 1/10; medium: at least 1/30; low: less, or
// unknown.
enum class Severity : std::uint8_t { low, medium, high };

struct Finding {
  std::string_view rule;
  Severity severity = Severity::low;  // minimum severity; a larger saving raises it
  std::string title;                  // the problem with its numbers; a sentence without the full stop
  std::vector<std::int64_t> ranks;    // ranks with the problem, sorted
  // Upper bound on the time saved by fixing this alone; the largest of all ranks. Empty if unknown.
  std::optional<std::int64_t> saving_ns;
  std::vector<std::int64_t> rank_savings_ns;  // per rank of `ranks`; empty if unknown
  // Upper bound on the GPU memory saved, on the rank that has most of the problem. Empty if unknown.
  std::optional<std::uint64_t> saving_bytes;
  // The rule that finds the cause of this problem. This finding is merged into findings of that rule on the same rank.
  std::string_view cause_rule;
  std::vector<Evidence> evidence;   // longest first, at most kMostEvidence; one per rank if a job hangs
  std::vector<std::int64_t> steps;  // steps that contain the evidence, sorted; empty if unknown
  std::string advice;               // sentences
  std::string_view source;          // a document that supports the advice
  std::string next_command;         // a command that shows more detail
};

inline constexpr std::size_t kMostEvidence = 5;

// Returns a time and its share of the diagnosed time: "12.300 ms a step (8.1 %)", or "12.300 ms (8.1 %)" if no steps
// are known.
std::string per_step_text(const DiagnosisScope& scope, std::int64_t ns);
// Returns "12 times a step", "3 times in 40 steps" or "7 times".
std::string times_text(const DiagnosisScope& scope, std::int64_t count);

class Rule : public TraceObserver {
 public:
  explicit Rule(const AnalysisContext& context) : context_(context) {}
  // Called after the walk. `tables` contains at least RuleEntry::tables, with a row per rank if possible. The caller
  // fills empty ranks, steps, source and next_command from the evidence and the entry.
  virtual std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) = 0;
  // Called after find(). Returns why the rule could not check the trace, apart from missing RuleEntry::inputs; "" if it
  // did check it.
  virtual std::string not_checked(const DiagnosisScope& /*scope*/, const std::vector<ResultTable>& /*tables*/) const {
    return {};
  }

  // Called before all events if RuleEntry::gap_owner is set. `claims` outlives the rule.
  void use(GapClaims& claims) { claims_ = &claims; }
  // Called for calls that allocate or release memory, if RuleEntry::gap_owner is set.
  virtual void allocated(ProcessId /*process*/, const AllocationCalls& /*calls*/) {}
  // Called for idle time of RuleEntry::gap_owner.
  virtual void claimed(const ClaimedGap& /*claim*/) {}
  // Called once before find(). Claims with if_no_optimizer count only for the processes that are true here.
  virtual void keep_without_optimizer(const std::vector<bool>& /*processes*/) {}

 protected:
  std::string name_of(StringId id) const { return std::string(context_.catalog.strings[id]); }
  std::string short_name_of(StringId id) const { return short_name(context_.catalog.strings[id]); }

  const AnalysisContext& context_;
  GapClaims* claims_ = nullptr;  // set if RuleEntry::gap_owner is set
};

struct RuleEntry {
  std::string_view name;                   // "host-sync"
  std::string_view fires;                  // the condition, as a sentence
  std::string_view source{};               // a document that users can open; "" if none
  std::vector<RuleInput> inputs{};         // the rule is not checked without them
  std::vector<std::string_view> tables{};  // tables that the rule reads
  ObserverNeeds needs{};                   // with gap_owner: the needs of GapClaims
  std::optional<GapOwner> gap_owner{};     // owner of the idle time that the rule judges
  std::unique_ptr<Rule> (*make)(const AnalysisContext& context) = nullptr;  // the context must outlive the rule
};

// Sets the class of an entry.
template <class Made>
RuleEntry rule_entry(RuleEntry entry) {
  entry.make = [](const AnalysisContext& context) -> std::unique_ptr<Rule> { return std::make_unique<Made>(context); };
  return entry;
}

const std::vector<RuleEntry>& rule_entries();

// Advice used by more than one rule.
inline constexpr std::string_view kGarbageCollectionAdvice =
    "Call gc.collect() and gc.freeze() after the model is built, so that later collections skip its objects. Then call gc.disable(), and gc.collect() every N steps, in the same "
    "step on all ranks: collections at different times delay all ranks in turn.";

// The Nsight Compute command that profiles one kernel.

// Returns a kernel's name in ncu's default form (--kernel-name-base function): the function's name without namespaces,
// template arguments and parameters, demangled if necessary. "" if the name contains no function.
std::string function_name(std::string_view kernel);

// Returns the command that profiles five launches of the kernel, skipping the first `skip`, in `program` and its
// children. `program` is as in the recording; "" if unknown.
std::string ncu_command(std::string_view kernel, std::int64_t skip, const std::string& program);

// The longest times of each rank that a rule may show, collected during the walk.
class LongestEvidence {
 public:
  // Adds a time by the clock of the rule's context, of which `ns` count for the rule. Calls `what` for its text only if
  // the time is among the longest so far.
  template <typename What>
  void add(ProcessId process, std::int64_t start_ns, std::int64_t end_ns, std::int64_t ns, What&& what) {
    std::vector<Time>& times = times_[process];
    if (times.size() == kMostEvidence && times.back().ns >= ns) return;
    const auto at = std::find_if(times.begin(), times.end(), [&](const Time& each) { return each.ns < ns; });
    times.insert(at, {start_ns, end_ns, ns, what()});
    if (times.size() > kMostEvidence) times.pop_back();
  }

  // Takes over the times of the chosen processes.
  void take(LongestEvidence&& other, const std::vector<bool>& chosen) {
    for (auto& [id, times] : other.times_) {
      if (!chosen[id]) continue;
      for (Time& time : times) add(id, time.start_ns, time.end_ns, time.ns, [&] { return std::move(time.what); });
    }
  }

  // Returns the times of these processes, longest first; equal times in order of start.
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
      if (evidence.size() < kMostEvidence)
        evidence.push_back({scope.rank(id), start_ns, scope.since_start(id, time->end_ns), time->what});
    }
    return evidence;
  }

 private:
  struct Time {
    std::int64_t start_ns, end_ns, ns;
    std::string what;
  };
  std::map<ProcessId, std::vector<Time>> times_;  // longest first
};

// The processes for which a rule fires, and the device that loses most.
struct Fired {
  std::vector<ProcessId> processes;     // sorted
  std::vector<std::int64_t> losses_ns;  // by index in `processes`: loss of the device that loses most
  ProcessId most = 0;
  std::int64_t device = -1;  // device of `most`
  std::int64_t most_ns = -1;

  // Processes must arrive in ascending order.
  void add(ProcessId id, std::int64_t of_device, std::int64_t ns) {
    if (processes.empty() || processes.back() != id) {
      processes.push_back(id);
      losses_ns.push_back(ns);
    }
    losses_ns.back() = std::max(losses_ns.back(), ns);
    if (ns > most_ns) most = id, device = of_device, most_ns = ns;
  }
  bool empty() const { return processes.empty(); }
  // Returns a finding with ranks, saving and evidence set.
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
