// stuck: a recorded job hangs in a collective, or ended in that state: some ranks have entered it and others have not,
// or all have and it did not end. The waiting time counts, up to the last heartbeat of the recording. Profiles are
// excluded because they have no heartbeat and may end anywhere.
#include "cli/answers/rules/rule.h"
#include "cli/answers/tables/cells.h"
#include "cli/trace/ranks.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastWait_ns = 1'000'000'000;
constexpr std::int64_t kLeastSteps = 5;  // a wait must also last this many median steps

class Stuck : public Rule {
 public:
  explicit Stuck(const AnalysisContext& context)
      : Rule(context), last_did_ns_(context.catalog.processes.size(), kNoTime) {}

  void event(const Event& event, const Facts&) override {
    std::int64_t& last_ns = last_did_ns_[context_.catalog.tracks[event.track].process];
    last_ns = std::max({last_ns, event.start_ns, is_slice(event) ? slice_end(event, event.start_ns) : event.start_ns});
  }

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>&) override {
    const auto& matched = context_.collectives->matched;
    std::vector<std::int64_t> lengths_ns;
    for (const ProcessSteps& found : context_.steps_found) {
      for (std::size_t i = 0; i + 1 < found.steps.size(); ++i)
        lengths_ns.push_back(found.steps[i].end_ns - found.steps[i].start_ns);  // the last one may be stuck
    }
    const std::int64_t step_ns = median(lengths_ns);
    // For each communicator, the first collective after the last that ended.
    std::map<std::uint32_t, const MatchedCollective*> open;
    std::vector<const MatchedCollective*> all;
    for (const MatchedCollective& each : matched.collectives) {
      all.push_back(&each);
      if (each.state == CollectiveState::complete || each.state == CollectiveState::no_gpu_work) {
        open.erase(each.group);
      } else {
        open.try_emplace(each.group, &each);
      }
    }
    last_completed_ = last_to_end(*context_.collectives, all, context_.catalog.processes.size());
    std::vector<Finding> findings;
    for (const auto& [group, collective] : open) {
      const Entry entry = entry_of(*collective);
      const bool is_long = entry.waited_ns >= kLeastWait_ns && entry.waited_ns >= kLeastSteps * step_ns;
      if (entry.are_recordings && is_long) findings.push_back(finding(scope, *collective, entry));
    }
    // The job hangs in the collective that was entered first; later ones wait for it.
    std::ranges::stable_sort(findings, {}, [](const Finding& each) { return each.evidence.front().start_ns; });
    return findings;
  }

 private:
  struct Entry {
    std::vector<ProcessId> entered, missing;  // members of the group
    // Ranks of the communicator that are not in the trace or never took part in one of its collectives
    std::int64_t unknown = 0;
    std::int64_t first_ns = kNoTime;  // time of the first entry
    std::int64_t waited_ns = 0;       // from the last entry to the last heartbeat of the ranks that entered
    bool are_recordings = true;
  };

  // Returns when a process was last known to be alive. The heartbeat is by the process's own clock; clock errors are
  // smaller than the waiting times that count here.
  std::int64_t last_seen_ns(ProcessId id) const {
    const Process& process = context_.catalog.processes[id];
    return std::max(process.last_ns, process.recorder.heartbeat_ns);
  }

  Entry entry_of(const MatchedCollective& collective) const {
    const auto& [calls, matched, clocks] = *context_.collectives;
    Entry entry;
    std::int64_t last_ns = kNoTime, seen_ns = kNoTime;
    for (const MatchedCall& each : matched.calls_of(collective)) {
      const CollectiveCall& call = call_of(calls, each);
      const std::int64_t ns = call.host_start_ns != kNoTime ? call.host_start_ns : call.gpu_start_ns;
      entry.entered.push_back(each.process);
      entry.are_recordings =
          entry.are_recordings && context_.catalog.processes[each.process].format == SourceFormat::ring;
      if (ns == kNoTime) continue;
      entry.first_ns = entry.first_ns == kNoTime ? ns : std::min(entry.first_ns, ns);
      last_ns = std::max(last_ns, ns);
      seen_ns = std::max(seen_ns, last_seen_ns(each.process));
    }
    for (const ProcessId id : matched.groups[collective.group].members) {
      if (std::find(entry.entered.begin(), entry.entered.end(), id) == entry.entered.end()) entry.missing.push_back(id);
    }
    // If a rank never took part in a communicator's collectives, its membership is known only if the communicator
    // contains all ranks.
    const MatchedGroup& group = matched.groups[collective.group];
    if (group.size_is_told && group.size == static_cast<std::int64_t>(context_.catalog.processes.size())) {
      entry.missing.clear();
      for (ProcessId id = 0; id < context_.catalog.processes.size(); ++id) {
        if (std::find(entry.entered.begin(), entry.entered.end(), id) == entry.entered.end())
          entry.missing.push_back(id);
      }
    } else if (group.size_is_told) {
      entry.unknown = std::max<std::int64_t>(
          0, group.size - static_cast<std::int64_t>(entry.entered.size() + entry.missing.size()));
    }
    if (last_ns != kNoTime) entry.waited_ns = seen_ns - last_ns;
    return entry;
  }

  std::string ranks_text(const DiagnosisScope& scope, const std::vector<ProcessId>& ids) const {
    std::vector<std::int64_t> ranks;
    for (const ProcessId id : ids) ranks.push_back(scope.rank(id));
    return rank_list(ranks);
  }

  std::string last_completed(ProcessId id) const {
    const MatchedCollective* const last = last_completed_[id];
    return last == nullptr ? "no collective completed"
                           : "last completed collective: " + collective_text(*context_.collectives, *last);
  }

  Finding finding(const DiagnosisScope& scope, const MatchedCollective& collective, const Entry& entry) const {
    Finding finding;
    const std::string what = collective_text(*context_.collectives, collective);
    if (entry.missing.empty() && entry.unknown > 0) {
      finding.title = fmt::format("{} waited {} in {}; nothing is known about {} of its communicator",
                                  ranks_text(scope, entry.entered), duration_text(entry.waited_ns), what,
                                  count_text(static_cast<std::uint64_t>(entry.unknown), "more rank"));
    } else if (entry.missing.empty()) {
      finding.title =
          fmt::format("{} did not end within {}, although all ranks entered it", what, duration_text(entry.waited_ns));
    } else {
      finding.title = fmt::format("{} waited {} in {}, which {} had not entered", ranks_text(scope, entry.entered),
                                  duration_text(entry.waited_ns), what, ranks_text(scope, entry.missing));
    }
    const auto& suspects = entry.missing.empty() ? entry.entered : entry.missing;
    for (const ProcessId id : suspects) finding.ranks.push_back(scope.rank(id));
    // Ranks that did not enter come first.
    for (const auto* ids : {&entry.missing, &entry.entered}) {
      for (const ProcessId id : *ids) {
        const bool came = ids == &entry.entered;
        const std::int64_t from_ns = came || last_did_ns_[id] == kNoTime ? entry.first_ns : last_did_ns_[id];
        finding.evidence.push_back({scope.rank(id), from_ns - context_.origin_ns,
                                    std::max(from_ns + 1, last_seen_ns(id)) - context_.origin_ns,
                                    (came ? "entered it; " : "after its last call or range; ") + last_completed(id)});
      }
    }
    finding.severity = Severity::high;
    finding.advice =
        entry.missing.empty()
            ? "Check the links and errors of these GPUs (dmesg, nvidia-smi -q -d ECC), and NCCL's log (NCCL_DEBUG=INFO)."
            : "Look at the last calls of the ranks that had not entered, at the end of their recordings. Usual causes: a crash, collectives in a different order, a branch "
              "that not all ranks take, or data that ran out on some ranks.";
    return finding;
  }

  std::vector<std::int64_t> last_did_ns_;                 // by ProcessId: end of its last CUDA call, range or NCCL call
  std::vector<const MatchedCollective*> last_completed_;  // by ProcessId
};

}  // namespace

RuleEntry stuck_rule() {
  return rule_entry<Stuck>(
      {.name = "stuck",
       .fires =
           "ranks of a recording wait for at least one second and five steps in a collective that other ranks have not entered or that does not end",
       .source =
           "PyTorch, Flight Recorder for Debugging Stuck Jobs: https://pytorch.org/tutorials/prototype/flight_recorder_tutorial.html",
       .inputs = {RuleInput::recordings, RuleInput::matched_collectives},
       .needs = {.collectives = true, .kinds = kinds_of({Kind::runtime, Kind::driver, Kind::nvtx, Kind::nccl})}});
}

}  // namespace cli::rules
