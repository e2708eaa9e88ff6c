// A rule of diagnose: a symptom, by what it is known, and what to do. A rule is a file and a line in rules.cpp. It looks at
// the trace in the one walk of all analyses, takes what their tables say already, and gives findings. It finds nothing where nothing
// is wrong: what it compares with is a constant of its file, beside who says so.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analyze/analysis.h"
#include "cli/analyze/table_reading.h"
#include "cli/diagnose/finding.h"
#include "cli/diagnose/gap_owner.h"
#include "cli/diagnose/rule_inputs.h"

namespace cli {

// Of a time in all of it: "12.300 ms a step (8.1 %)"; "12.300 ms (8.1 %)" where no steps are known.
std::string per_step_text(const DiagnosisScope& scope, std::int64_t ns);
// "12 times a step", "3 times in 40 steps", "7 times".
std::string times_text(const DiagnosisScope& scope, std::int64_t count);

class Rule : public TraceObserver {
 public:
  // After the walk. `tables`: of RuleEntry::tables at least, with a row for each rank where they can. What it leaves empty of
  // ranks, steps, source and next_command is filled in of the evidence and the entry.
  virtual std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) = 0;
  // After find(): why it could not look, besides RuleEntry::inputs. "": it looked.
  virtual std::string not_checked(const DiagnosisScope& /*scope*/, const std::vector<ResultTable>& /*tables*/) const { return {}; }

  // If RuleEntry::gap_owner is set. Before all events; `claims` outlives the rule.
  virtual void use(GapClaims& /*claims*/) {}
  // Idle time of RuleEntry::gap_owner.
  virtual void claimed(const ClaimedGap& /*claim*/) {}
  // Before find(), once: claims with if_no_optimizer count for the processes for which this is true.
  virtual void keep_without_optimizer(const std::vector<bool>& /*processes*/) {}
};

// RuleEntry::make.
template <class Made>
std::unique_ptr<Rule> make_rule(const AnalysisContext& context) {
  return std::make_unique<Made>(context);
}

struct RuleEntry {
  std::string_view name;    // "host-sync"
  std::string_view fires;   // when: a sentence
  std::string_view source{};  // a document that a reader can open; "": none
  std::vector<RuleInput> inputs{};  // without which it cannot look
  std::vector<std::string_view> tables{};  // that it reads
  ObserverNeeds needs{};  // of gap_owner: as GapClaims has them
  std::optional<GapOwner> gap_owner{};  // whose idle time it judges
  std::unique_ptr<Rule> (*make)(const AnalysisContext& context);  // the context outlives it
};

const std::vector<RuleEntry>& rules();

// Of more than one rule.
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
