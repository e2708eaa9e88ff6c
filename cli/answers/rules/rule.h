// A rule of diagnose: a symptom, how it is recognized, and what to do. A rule is a file and a line in rules.cpp. It reads
// the trace in the one walk of all analyses, uses their tables, and returns findings. It returns none if nothing is wrong: its
// thresholds are constants of its file, next to their source.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/answers/tables/table_reading.h"
#include "cli/answers/rules/finding.h"
#include "cli/answers/rules/gap_owner.h"
#include "cli/answers/rules/rule_inputs.h"

namespace cli {

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

const std::vector<RuleEntry>& rules();

// Used by more than one rule.
inline constexpr std::string_view kGarbageCollectionAdvice =
    "Call gc.collect() and gc.freeze() after the model is built, so that later collections skip its objects. Then call gc.disable(), and gc.collect() every N steps, in the same "
    "step on all ranks: collections at different times delay all ranks in turn.";

// One per file.
RuleEntry stuck_rule();
RuleEntry straggler_rule();
RuleEntry comm_exposed_rule();
RuleEntry comm_slow_rule();
RuleEntry data_starved_rule();
RuleEntry host_late_rule();
RuleEntry garbage_collection_rule();
RuleEntry host_sync_rule();
RuleEntry launch_bound_rule();
RuleEntry gpu_idle_rule();
RuleEntry pageable_copy_rule();
RuleEntry allocation_in_step_rule();
RuleEntry fp32_matmul_rule();
RuleEntry memory_bound_kernels_rule();
RuleEntry step_outlier_rule();
RuleEntry memory_peak_rule();
RuleEntry memory_growth_rule();
RuleEntry fragmentation_rule();
RuleEntry copy_cast_rule();
RuleEntry single_tensor_optimizer_rule();
RuleEntry unfused_attention_rule();
RuleEntry unaligned_matmul_rule();
RuleEntry launch_queue_full_rule();
RuleEntry slow_first_rule();
RuleEntry recording_overhead_rule();
RuleEntry backward_long_rule();

}  // namespace cli
