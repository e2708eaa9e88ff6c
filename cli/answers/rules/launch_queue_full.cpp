// launch-queue-full: the host is so far ahead of the GPU that the queue of a stream is full, and each launch waits
// until earlier work begins. The GPU is busy during these calls, so their time is not launch overhead.
#include "cli/answers/rules/rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastFullShare = 10;  // 1 / N of the time: such calls
// A queue holds about 1,024 launches that have not begun ("CUDA stream is blocked when launching many kernels", below,
// measured 1,022 to 1,024).
constexpr std::size_t kFullQueue = 1'000;

class LaunchQueueFull : public Rule {
 public:
  explicit LaunchQueueFull(const AnalysisContext& context)
      : Rule(context), activity_(context.catalog), names_(context.catalog.strings) {}

  void event(const Event& event, const Facts&) override { activity_.event(event); }
  void work(const GpuWork& work) override {
    if (work.call == nullptr || work.event->correlation == 0 || !names_[work.call->name].launches) return;
    Queue& queue = queues_[work.event->track];
    if (queue.last_correlation == work.event->correlation) return;  // a graph is one launch
    queue.last_correlation = work.event->correlation;
    const std::int64_t called_ns = work.call->start_ns, returned_ns = work.call->end_ns;
    // Launches of a stream begin in order, so the starts of all earlier ones are known.
    while (!queue.starts_ns.empty() && queue.starts_ns.front() <= called_ns) queue.starts_ns.pop_front();
    const bool was_full = queue.starts_ns.size() >= kFullQueue && queue.starts_ns.front() <= returned_ns;
    queue.starts_ns.push_back(work.start_ns);
    if (was_full) add(work.process, *work.call);
  }

  void end_of(ProcessId process) override {
    activity_.end_of(process);
    std::erase_if(queues_, [&](const auto& queue) { return context_.catalog.tracks[queue.first].process == process; });
  }

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>&) override {
    Fired fired;
    for (const auto& [id, sum] : sums_) {
      if (sum.ns > scope.time.lengths_ns[id] / kLeastFullShare) fired.add(id, -1, sum.ns);
    }
    if (fired.empty()) return {};
    Finding finding = fired.finding(scope, evidence_);
    finding.saving_ns = 0;
    finding.title = fmt::format("the launch queue is full: the host waits in {} launches for {} while the GPU is busy",
                                sums_.at(fired.most).count, per_step_text(scope, fired.most_ns));
    finding.advice =
        "Make kernels faster, not launches: the GPU has work all the time. Do not count the time of these calls as launch overhead. "
        "The host sees results, errors and Ctrl-C about 1,000 launches late.";
    return {finding};
  }

 private:
  struct Queue {
    std::deque<std::int64_t> starts_ns;  // launches that had not begun at the newest call
    std::uint64_t last_correlation = 0;
  };
  struct Sum {
    std::int64_t ns = 0, count = 0;
  };

  void add(ProcessId id, const LaunchCall& call) {
    context_.windows.each_part(
        id, call.start_ns, call.end_ns, [&](std::size_t, std::int64_t from_ns, std::int64_t to_ns) {
          if (from_ns >= to_ns) return;
          Sum& sum = sums_[id];
          sum.ns += to_ns - from_ns;
          ++sum.count;
          evidence_.add(id, from_ns, to_ns, to_ns - from_ns,
                        [&] { return name_of(call.name) + ", called " + activity_.text(call.track, call.start_ns); });
        });
  }

  HostActivity activity_;
  NameClasses names_;
  std::map<TrackId, Queue> queues_;  // by stream
  std::map<ProcessId, Sum> sums_;
  LongestEvidence evidence_;
};

}  // namespace

RuleEntry launch_queue_full_rule() {
  return rule_entry<LaunchQueueFull>(
      {.name = "launch-queue-full",
       .fires = "launches wait for more than 10 % of the time because 1,000 earlier launches have not begun",
       .source =
           "Stack Overflow 53970187, \"CUDA stream is blocked when launching many kernels (>1000)\": https://stackoverflow.com/questions/53970187",
       .inputs = {RuleInput::launches},
       .needs = {.kinds = HostActivity::kinds(), .any_time = true}});
}

}  // namespace cli::rules
