// Runs the rules over a trace, in the same walk as the tables that they read.
#pragma once
#include "cli/answers/rules/rule.h"
#include "cli/answers/tables/analyze.h"

namespace cli::rules {

struct DiagnosisRequest {
  std::vector<const RuleEntry*> rules;
  Selection
      selection;  // ranks to report findings for; without steps or a time: all steps after the warm-up, or the whole trace if it has no steps
  std::string inputs;                      // as words of a shell command, for next_command
  const NameRules* class_rules = nullptr;  // see AnalysisRequest
  const OwnPeaks* own_peaks = nullptr;     // see AnalysisRequest
};

// A rule that could not check the trace.
struct NotChecked {
  std::string_view rule;
  std::string reason;  // "no launch calls in the trace"
};

struct Diagnosis {
  std::vector<Finding> findings;        // the largest saving first, unknown ones last
  std::size_t processes = 0;            // chosen processes with GPU work
  std::int64_t length_ns = 0;           // the longest diagnosed time of a process
  std::vector<std::int64_t> steps;      // steps in that time, sorted
  std::vector<NotChecked> not_checked;  // in the order of the rules
  std::vector<std::string> notes;       // other facts; a sentence each
};

// The result of one rule, after the walk.
struct RuleResult {
  std::vector<Finding> findings;
  std::string not_checked;  // the reason; "" if it was checked
};

std::vector<const RuleEntry*> all_rules();

// Returns the events to read for these rules, these other tables and these other kinds. Make a new one for each trace.
EventChoice diagnosed_events(const std::vector<const RuleEntry*>& rules,
                             const std::vector<const AnalysisEntry*>& also_tables = {}, KindSet also_kinds = {});

// Runs the rules as one of several requests of the same walk (analyze_each). `catalog`, `facts` and `request` must
// outlive it.
class DiagnosisRun {
 public:
  // Throws the errors of analyze().
  DiagnosisRun(const Catalog& catalog, const TraceFacts& facts, const DiagnosisRequest& request);
  DiagnosisRun(const DiagnosisRun&) = delete;
  DiagnosisRun& operator=(const DiagnosisRun&) = delete;

  const AnalysisRequest& analysis() const { return analysis_; }
  Diagnosis finish(const AnalysisResult& result);  // once

 private:
  const Catalog& catalog_;
  const TraceFacts& facts_;
  const DiagnosisRequest& request_;
  Diagnosis diagnosis_;
  DiagnosedTime time_;
  std::vector<RuleResult> results_;  // by index in DiagnosisRequest::rules
  AnalysisRequest analysis_;
};

// Like analyze(), with the same errors. Memory: that of the rules and of the analyses whose tables they read.
Diagnosis diagnose(OrderedTrace& trace, const TraceFacts& facts, const std::vector<ProcessSteps>& found,
                   const DiagnosisRequest& request);

}  // namespace cli::rules
