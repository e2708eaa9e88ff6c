#include "cli/answers/rules/diagnose.h"

#include <set>

#include "cli/trace/ranks.h"

namespace cli::rules {
namespace {

constexpr double kNearlyAll = 0.9;  // if less of the time is within steps, a note reports the share
constexpr std::int64_t kHighShare = 10, kMediumShare = 30;  // 1 / N of the time

// Determines the diagnosed time of each process.
class Extents : public TablesObserver {
 public:
  // `is_chosen` is true if the windows are steps or were chosen by the user.
  Extents(const AnalysisContext& context, bool is_chosen, DiagnosedTime& time, Diagnosis& diagnosis)
      : context_(context),
        is_chosen_(is_chosen),
        time_(time),
        diagnosis_(diagnosis),
        extents_(context.catalog.processes.size()) {}

  void work(const GpuWork& work) override {
    Extent& extent = extents_[work.process];
    if (!extent.has_work) extent = {true, work.start_ns, work.end_ns};
    extent.last_ns = std::max(extent.last_ns, work.end_ns);
    if (work.work_class == WorkClass::comm) time_.has_communication = true;
  }
  void finish(const std::vector<ResultTable>&) override {
    std::set<std::int64_t> numbers;
    for (ProcessId id = 0; id < extents_.size(); ++id) {
      if (!extents_[id].has_work) continue;
      ++diagnosis_.processes;
      time_.has_work[id] = true;
      time_.lengths_ns[id] = length_ns(id);
      time_.length_ns = std::max(time_.length_ns, time_.lengths_ns[id]);
      std::int64_t steps = 0;
      for (const Step& step : context_.steps[id]) {
        if (!context_.windows.at(id, step.from_ns())) continue;
        ++steps;
        numbers.insert(step.number);
      }
      time_.steps = std::max(time_.steps, steps);
    }
    diagnosis_.length_ns = time_.length_ns;
    diagnosis_.steps.assign(numbers.begin(), numbers.end());
  }

 private:
  struct Extent {
    bool has_work = false;
    std::int64_t first_ns = 0, last_ns = 0;
  };

  std::int64_t length_ns(ProcessId id) const {
    if (!is_chosen_)
      return extents_[id].last_ns - std::max(extents_[id].first_ns, context_.windows.of(id).front().from_ns);
    std::int64_t sum_ns = 0;
    for (const AnalysisWindow& window : context_.windows.of(id)) sum_ns += window.to_ns - window.from_ns;
    return sum_ns;
  }

  const AnalysisContext& context_;
  const bool is_chosen_;
  DiagnosedTime& time_;
  Diagnosis& diagnosis_;
  std::vector<Extent> extents_;
};

// Steps are by each process's own clock, evidence is on the common axis. A step without GPU work, as on a rank that
// hangs, has its host time.
std::vector<std::int64_t> steps_of(const std::vector<Evidence>& evidence, const Catalog& catalog,
                                   const TraceFacts& facts) {
  std::set<std::int64_t> numbers;
  for (const Evidence& each : evidence) {
    for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
      if (catalog.processes[id].rank != each.rank) continue;
      for (const Step& step : facts.steps[id]) {
        const bool is_of_host = step.length_ns() == 0;
        const std::int64_t start_ns =
            facts.clocks.on_axis(id, is_of_host ? step.start_ns : step.from_ns()) - facts.first_ns;
        const std::int64_t end_ns = facts.clocks.on_axis(id, is_of_host ? step.end_ns : step.to_ns()) - facts.first_ns;
        if (start_ns < each.end_ns && each.start_ns < end_ns) numbers.insert(step.number);
      }
    }
  }
  return {numbers.begin(), numbers.end()};
}

// Returns the command that exports the time of the first evidence. `first_step` is the step that contains it.
std::string export_command(const Finding& finding, std::optional<std::int64_t> first_step, const std::string& inputs) {
  std::string command = "tracetool export --perfetto " + inputs;
  if (!finding.ranks.empty() && finding.ranks.front() >= 0) {
    std::string ranks = number_list(finding.ranks);
    std::erase(ranks, ' ');
    command += " --ranks " + ranks;
  }
  if (!finding.evidence.empty()) {
    const Evidence& first = finding.evidence.front();
    const std::int64_t around_ns = std::max<std::int64_t>((first.end_ns - first.start_ns) / 2, 100'000);
    if (first_step) {
      command += fmt::format(" --steps {}", *first_step);
    } else {
      command += fmt::format(" --time {}ns-{}ns", std::max<std::int64_t>(0, first.start_ns - around_ns),
                             first.end_ns + around_ns);
    }
  }
  return command + fmt::format(" -o {}.json.gz", finding.rule);
}

Severity severity_of(const Finding& finding, std::int64_t length_ns) {
  if (!finding.saving_ns || *finding.saving_ns < length_ns / kMediumShare) return Severity::low;
  return *finding.saving_ns < length_ns / kHighShare ? Severity::medium : Severity::high;
}

// Returns the sort key of a finding: highest for those that block everything, lowest for those without a known saving.
std::int64_t urgency(const Finding& finding) {
  return finding.saving_ns.value_or(finding.severity == Severity::high ? kLatest_ns : -1);
}

// Maximum number of evidence items from each of two joined findings, the cause's first.
constexpr std::size_t kCauseEvidence = 2;

// Joins `effect`, a finding about one rank, with the part of `cause` about this rank. The rest of `cause` is about its
// other ranks.
void join_cause(Finding& effect, Finding& cause) {
  const auto at = std::find(cause.ranks.begin(), cause.ranks.end(), effect.ranks[0]);
  if (effect.ranks[0] < 0 || at == cause.ranks.end() || cause.rank_savings_ns.size() != cause.ranks.size()) return;
  const auto saving = cause.rank_savings_ns.begin() + (at - cause.ranks.begin());
  effect.saving_ns = std::max(effect.saving_ns, std::optional(*saving));
  const auto of_rank = std::stable_partition(cause.evidence.begin(), cause.evidence.end(),
                                             [&](const Evidence& each) { return each.rank != effect.ranks[0]; });
  const auto count = std::min<std::ptrdiff_t>(cause.evidence.end() - of_rank, kCauseEvidence);
  effect.evidence.insert(effect.evidence.begin(), of_rank, of_rank + count);
  effect.evidence.resize(std::min(effect.evidence.size(), kMostEvidence));
  cause.evidence.erase(of_rank, cause.evidence.end());
  cause.rank_savings_ns.erase(saving);
  cause.ranks.erase(at);
  if (!cause.ranks.empty())
    cause.saving_ns = *std::max_element(cause.rank_savings_ns.begin(), cause.rank_savings_ns.end());
}

// Joins each finding with the finding of its cause on the same rank.
void join_causes(std::vector<Finding>& findings) {
  std::set<std::string_view> causes;
  for (Finding& effect : findings) {
    if (effect.cause_rule.empty()) continue;
    causes.insert(effect.cause_rule);
    for (Finding& cause : findings) {
      if (cause.rule == effect.cause_rule) join_cause(effect, cause);
    }
  }
  std::erase_if(findings, [&](const Finding& each) { return each.ranks.empty() && causes.count(each.rule) > 0; });
}

RuleResult result_of(const RuleEntry& entry, Rule& rule, const DiagnosisScope& scope,
                     const std::vector<ResultTable>& tables) {
  RuleResult result{rule.find(scope, tables), {}};
  for (Finding& finding : result.findings) {
    finding.rule = entry.name;
    if (finding.source.empty()) finding.source = entry.source;
  }
  for (const RuleInput input : entry.inputs) {
    if (result.not_checked.empty()) result.not_checked = missing_input(input, scope, tables);
  }
  if (result.not_checked.empty()) result.not_checked = rule.not_checked(scope, tables);
  return result;
}

// Runs one rule.
class RuleRun : public TablesObserver {
 public:
  RuleRun(const RuleEntry& entry, const AnalysisContext& context, const DiagnosedTime& time, RuleResult& result)
      : entry_(entry), scope_{context, time}, result_(result), rule_(entry.make(context)) {}

  void work(const GpuWork& work) override { rule_->work(work); }
  void event(const Event& event, const Facts& facts) override { rule_->event(event, facts); }
  void end_of(ProcessId process) override { rule_->end_of(process); }
  void finish(const std::vector<ResultTable>& tables) override { result_ = result_of(entry_, *rule_, scope_, tables); }

 private:
  const RuleEntry& entry_;
  const DiagnosisScope scope_;
  RuleResult& result_;
  std::unique_ptr<Rule> rule_;
};

// Runs the rules that own idle time. They share one assignment of idle time to owners.
class GapRulesRun : public TablesObserver {
 public:
  struct Member {
    const RuleEntry* entry;
    RuleResult* result;  // null if not requested; the rule still affects what other rules own
    std::unique_ptr<Rule> rule{};
  };

  GapRulesRun(std::vector<Member> members, const AnalysisContext& context, const DiagnosedTime& time)
      : scope_{context, time}, claims_(context), members_(std::move(members)) {
    const bool has_optimizer =
        std::any_of(members_.begin(), members_.end(), [](const Member& each) { return is_optimizer(each); });
    for (const RuleEntry& entry : rule_entries()) {
      if (!has_optimizer && entry.gap_owner == GapOwner::optimizer) members_.push_back({&entry, nullptr});
    }
    for (Member& member : members_) {
      member.rule = member.entry->make(context);
      member.rule->use(claims_);
    }
  }

  void event(const Event& event, const Facts& facts) override {
    const auto allocations = claims_.event(event, facts);
    for (const Member& member : members_) member.rule->event(event, facts);
    if (allocations) hand_on(scope_.trace.catalog.tracks[event.track].process, *allocations);
  }
  void gap(const DeviceGap& gap) override {
    claims_.gap(gap, [&](const ClaimedGap& claim) {
      for (const Member& member : members_) {
        if (member.entry->gap_owner == claim.owner) member.rule->claimed(claim);
      }
    });
  }
  void work(const GpuWork& work) override {
    claims_.work(work);
    for (const Member& member : members_) member.rule->work(work);
  }
  void end_of(ProcessId process) override {
    hand_on_rest(process);
    for (const Member& member : members_) member.rule->end_of(process);
    claims_.end_of(process);
  }
  void finish(const std::vector<ResultTable>& tables) override {
    for (ProcessId id = 0; id < scope_.trace.catalog.processes.size(); ++id) hand_on_rest(id);
    const auto optimizer = std::find_if(members_.begin(), members_.end(), is_optimizer);
    const RuleResult found = result_of(*optimizer->entry, *optimizer->rule, scope_, tables);
    std::vector<bool> without(scope_.trace.catalog.processes.size(), true);
    for (const Finding& finding : found.findings) {
      for (ProcessId id = 0; id < without.size(); ++id) {
        if (std::find(finding.ranks.begin(), finding.ranks.end(), scope_.rank(id)) != finding.ranks.end())
          without[id] = false;
      }
    }
    for (Member& member : members_) {
      if (member.result == nullptr) continue;
      member.rule->keep_without_optimizer(without);
      *member.result = is_optimizer(member) ? found : result_of(*member.entry, *member.rule, scope_, tables);
    }
  }

 private:
  void hand_on(ProcessId process, const AllocationCalls& calls) {
    for (const Member& member : members_) member.rule->allocated(process, calls);
  }
  void hand_on_rest(ProcessId process) {
    claims_.allocations().settle_rest(process, [&](const AllocationCalls& calls) { hand_on(process, calls); });
  }
  static bool is_optimizer(const Member& member) { return member.entry->gap_owner == GapOwner::optimizer; }

  const DiagnosisScope scope_;
  GapClaims claims_;
  std::vector<Member> members_;
};

ObserverNeeds needs_of(const RuleEntry& rule) { return rule.gap_owner ? GapClaims::needs() : rule.needs; }

// Returns the share of the chosen processes' time that lies within steps on the host, including the warm-up. Ignores
// processes without steps.
double share_of_steps(const Catalog& catalog, const TraceFacts& facts, const std::vector<bool>& chosen) {
  double within_ns = 0, all_ns = 0;
  for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
    if (!chosen[id] || facts.steps[id].empty()) continue;
    for (const Step& step : facts.steps[id]) within_ns += static_cast<double>(step.end_ns - step.start_ns);
    all_ns += static_cast<double>(catalog.processes[id].last_ns - catalog.processes[id].first_ns);
  }
  return all_ns > 0 ? within_ns / all_ns : 1;
}

// Returns the steps after the last warm-up step of any chosen rank (of its first file, if it has several). Empty if a
// chosen process has GPU work but no steps; then the whole trace is diagnosed.
std::optional<NumberRanges> steps_to_diagnose(const Catalog& catalog, const TraceFacts& facts,
                                              const std::vector<bool>& chosen, std::vector<std::string>& notes) {
  std::set<std::int64_t> warm_ups, numbers;
  std::unordered_map<std::int64_t, std::int64_t> first_ns;  // by rank, for its first file
  for (const Process& process : catalog.processes) {
    const auto [known, is_new] = first_ns.try_emplace(process.rank, process.first_ns);
    if (!is_new) known->second = std::min(known->second, process.first_ns);
  }
  const auto is_later_phase = [&](const Process& process) {
    return process.rank >= 0 && first_ns.at(process.rank) < process.first_ns;
  };
  for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
    if (!chosen[id]) continue;
    const std::vector<Step>& steps = facts.steps[id];
    const std::size_t count = is_later_phase(catalog.processes[id]) ? 0 : warm_up_steps(steps);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      numbers.insert(steps[i].number);
      if (i < count) warm_ups.insert(steps[i].number);
    }
    if (steps.empty() && catalog.processes[id].counts[static_cast<std::size_t>(Kind::kernel)] > 0) return std::nullopt;
  }
  const auto first = warm_ups.empty() ? numbers.begin() : numbers.upper_bound(*warm_ups.rbegin());
  if (first == numbers.end()) return std::nullopt;
  if (!warm_ups.empty()) {
    notes.push_back(fmt::format("{} {} {} warm-up and excluded", warm_ups.size() == 1 ? "step" : "steps",
                                number_list({warm_ups.begin(), warm_ups.end()}), warm_ups.size() == 1 ? "is" : "are"));
  }
  if (const double share = share_of_steps(catalog, facts, chosen); share < kNearlyAll) {
    notes.push_back(fmt::format(
        "the steps cover {:.0f} % of the time; the rest is not diagnosed (--time 0s- includes it)", 100 * share));
  }
  return NumberRanges("--steps", fmt::format("{}-", *first));
}

std::vector<const AnalysisEntry*> tables_of(const std::vector<const RuleEntry*>& rules) {
  std::vector<const AnalysisEntry*> chosen;
  for (const AnalysisEntry& entry : analyses()) {
    const bool read = std::ranges::any_of(
        rules, [&](const RuleEntry* rule) { return std::ranges::count(rule->tables, entry.name) > 0; });
    if (read) chosen.push_back(&entry);
  }
  return chosen;
}

}  // namespace

std::string per_step_text(const DiagnosisScope& scope, std::int64_t ns) {
  const double percent =
      scope.time.length_ns > 0 ? 100.0 * static_cast<double>(ns) / static_cast<double>(scope.time.length_ns) : 0.0;
  return scope.time.steps > 0 ? fmt::format("{} a step ({:.1f} %)", duration_text(ns / scope.time.steps), percent)
                              : fmt::format("{} ({:.1f} %)", duration_text(ns), percent);
}

std::string times_text(const DiagnosisScope& scope, std::int64_t count) {
  if (scope.time.steps == 0) return count_text(static_cast<std::uint64_t>(count), "time");
  if (count < scope.time.steps)
    return fmt::format("{} in {} steps", count_text(static_cast<std::uint64_t>(count), "time"), scope.time.steps);
  if (count == scope.time.steps) return "once a step";
  return fmt::format("{:.3g} times a step", static_cast<double>(count) / static_cast<double>(scope.time.steps));
}

std::vector<const RuleEntry*> all_rules() {
  std::vector<const RuleEntry*> chosen;
  for (const RuleEntry& rule : rule_entries()) chosen.push_back(&rule);
  return chosen;
}

EventChoice diagnosed_events(const std::vector<const RuleEntry*>& rules,
                             const std::vector<const AnalysisEntry*>& also_tables, KindSet also_kinds) {
  for (const RuleEntry* rule : rules) also_kinds |= needs_of(*rule).looked_at();
  std::vector<const AnalysisEntry*> tables = tables_of(rules);
  tables.insert(tables.end(), also_tables.begin(), also_tables.end());
  return analyzed_events(tables, also_kinds);
}

DiagnosisRun::DiagnosisRun(const Catalog& catalog, const TraceFacts& facts, const DiagnosisRequest& request)
    : catalog_(catalog),
      facts_(facts),
      request_(request),
      time_{std::vector<std::int64_t>(catalog.processes.size()), 0, 0, std::vector<bool>(catalog.processes.size()),
            false},
      results_(request.rules.size()) {
  analysis_.analyses = tables_of(request.rules);
  analysis_.by = GroupBy::rank;
  analysis_.selection = request.selection;
  analysis_.class_rules = request.class_rules;
  analysis_.own_peaks = request.own_peaks;
  if (!request.selection.steps && !request.selection.time) {
    Selection selection = request.selection;
    selection.without_beside = true;
    const Selector selector(selection, catalog, facts);
    std::vector<bool> chosen(catalog.processes.size());
    for (ProcessId id = 0; id < chosen.size(); ++id) chosen[id] = selector.has(id);
    analysis_.selection.steps = steps_to_diagnose(catalog, facts, chosen, diagnosis_.notes);
  }
  const bool is_chosen = analysis_.selection.steps || analysis_.selection.time;
  analysis_.observers.push_back({ObserverNeeds{.by_time = true}, [this, is_chosen](const AnalysisContext& context) {
                                   return std::make_unique<Extents>(context, is_chosen, time_, diagnosis_);
                                 }});
  bool has_gap_rules = false;
  for (std::size_t i = 0; i < request.rules.size(); ++i) {
    const RuleEntry* rule = request.rules[i];
    if (rule->gap_owner) has_gap_rules = true;
    if (rule->gap_owner) continue;
    ObserverNeeds needs = rule->needs;
    needs.by_time = true;
    analysis_.observers.push_back({needs, [this, rule, i](const AnalysisContext& context) {
                                     return std::make_unique<RuleRun>(*rule, context, time_, results_[i]);
                                   }});
  }
  if (!has_gap_rules) return;
  analysis_.observers.push_back({GapClaims::needs(), [this](const AnalysisContext& context) {
                                   std::vector<GapRulesRun::Member> members;
                                   for (std::size_t i = 0; i < request_.rules.size(); ++i) {
                                     if (request_.rules[i]->gap_owner)
                                       members.push_back({request_.rules[i], &results_[i]});
                                   }
                                   return std::make_unique<GapRulesRun>(std::move(members), context, time_);
                                 }});
}

Diagnosis DiagnosisRun::finish(const AnalysisResult& result) {
  diagnosis_.notes.insert(diagnosis_.notes.end(), result.notes.begin(), result.notes.end());
  for (std::size_t i = 0; i < results_.size(); ++i) {
    auto& [findings, why] = results_[i];
    if (diagnosis_.processes == 0 && findings.empty()) why = "no GPU work in the trace";
    if (result.lacks_work && request_.rules[i]->gap_owner) {
      findings.clear();
      why = "launches without GPU work in the trace";
    }
    if (!why.empty()) diagnosis_.not_checked.push_back({request_.rules[i]->name, std::move(why)});
    std::move(findings.begin(), findings.end(), std::back_inserter(diagnosis_.findings));
  }
  join_causes(diagnosis_.findings);
  for (Finding& finding : diagnosis_.findings) {
    std::sort(finding.ranks.begin(), finding.ranks.end());
    finding.ranks.erase(std::unique(finding.ranks.begin(), finding.ranks.end()), finding.ranks.end());
    if (finding.steps.empty()) finding.steps = steps_of(finding.evidence, catalog_, facts_);
    if (finding.saving_ns) finding.saving_ns = std::min(*finding.saving_ns, diagnosis_.length_ns);
    finding.severity = std::max(finding.severity, severity_of(finding, diagnosis_.length_ns));
    if (!finding.next_command.empty()) continue;
    std::optional<std::int64_t> first_step;
    if (!finding.evidence.empty()) {
      const auto steps = steps_of({finding.evidence.front()}, catalog_, facts_);
      if (!steps.empty()) first_step = steps.front();
    }
    finding.next_command = export_command(finding, first_step, request_.inputs);
  }
  std::ranges::stable_sort(diagnosis_.findings, std::greater(), urgency);
  return std::move(diagnosis_);
}

Diagnosis diagnose(OrderedTrace& trace, const TraceFacts& facts, const std::vector<ProcessSteps>& found,
                   const DiagnosisRequest& request) {
  DiagnosisRun run(trace.catalog(), facts, request);
  return run.finish(analyze(trace, facts, found, run.analysis()));
}

}  // namespace cli::rules
