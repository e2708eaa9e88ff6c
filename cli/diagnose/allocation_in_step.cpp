// allocation-in-step: the driver is asked for memory of the GPU, or given it back, in training steps after the first two, when a
// caching allocator has all that it needs. Releasing memory waits for the GPU, so that it idles afterwards.
#include <fmt/format.h>

#include <deque>
#include <iterator>

#include "cli/analyze/device_gaps.h"
#include "cli/analyze/whole_steps.h"
#include "cli/diagnose/fired.h"
#include "cli/diagnose/host_activity.h"
#include "cli/io/units.h"
#include "cli/model/name_classes.h"

namespace cli {
namespace {

constexpr std::int64_t kLeastAllocationShare = 100;  // 1 / so much of the time: of idle time in and after the calls
constexpr std::int64_t kFirstSteps = 2;              // in which memory is allocated

class AllocationInStep : public Rule {
 public:
  explicit AllocationInStep(const AnalysisContext& context)
      : context_(context), steps_(whole_steps(context).host()), activity_(context.catalog), gaps_(context.catalog), names_(context.catalog.strings.size()) {}

  void event(const Event& event, const Facts&) override {
    activity_.event(event);
    const ProcessId process = context_.catalog.tracks[event.track].process;
    gaps_.event(event, process);
    if (is_api_call(event.kind) && is_slice(event) && event.duration_ns > 0 && manages_memory(event.name) && is_late(process, event.start_ns)) add_call(process, event);
  }
  void work(const GpuWork& work) override {
    std::optional<HostWait> wait;
    const auto gap = gaps_.work(work, wait);
    if (gap && gap->from_ns != kEarliest_ns) add_idle(*gap);
  }

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>&) override {
    Fired fired;
    for (const auto& [device, idle_ns] : idle_ns_) {
      if (idle_ns * kLeastAllocationShare > scope.time.lengths_ns[device.first]) fired.add(device.first, device.second, idle_ns);
    }
    if (fired.empty()) return {};
    Finding finding = fired.finding(scope, evidence_);
    const OfProcess& most = processes_.at(fired.most);
    StringId often = most.counts.begin()->first;
    for (const auto& [name, count] : most.counts) {
      if (count > most.counts.at(often)) often = name;
    }
    finding.title = fmt::format("memory of the GPU is allocated or released by the driver {}, mostly by {}: the calls take {}, the GPU idles {} in and after them",
                                times_text(scope, most.count), std::string(context_.catalog.strings[often]), per_step_text(scope, most.time_ns),
                                per_step_text(scope, fired.most_ns));
    finding.advice =
        "Allocate by PyTorch's caching allocator, once: no torch.cuda.empty_cache() in the step, buffers that are kept, sizes that do not change (pad batches), "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; in CUDA programs cudaMallocAsync, or allocation before the loop.";
    return {finding};
  }

 private:
  struct Call {
    std::int64_t start_ns, end_ns;
  };
  struct OfProcess {
    std::int64_t count = 0, time_ns = 0;
    std::map<StringId, std::int64_t> counts;
    std::deque<Call> calls;                 // that idle time to come may lie in
    std::map<TrackId, std::int64_t> end_ns;  // of the newest of each thread
  };
  static constexpr std::size_t kMostCalls = 4096;

  bool manages_memory(StringId name) {
    if (name >= names_.size()) names_.resize(name + std::size_t{1});
    const std::string_view text = context_.catalog.strings[name];
    if (names_[name] == 0) names_[name] = is_allocation_name(text) || is_release_name(text) ? 2 : 1;
    return names_[name] == 2;
  }
  bool is_late(ProcessId process, std::int64_t ns) const {
    const auto step = steps_.at(process, ns);
    return step && steps_.of(process)[*step].step.value_or(0) >= kFirstSteps;
  }
  void add_call(ProcessId id, const Event& event) {
    OfProcess& process = processes_[id];
    const std::int64_t end_ns = slice_end(event, event.start_ns);
    std::int64_t& last_end_ns = process.end_ns.try_emplace(event.track, kEarliest_ns).first->second;
    if (event.start_ns < last_end_ns) return;  // the driver's, within the runtime's
    last_end_ns = end_ns;
    ++process.count;
    ++process.counts[event.name];
    process.time_ns += end_ns - event.start_ns;
    process.calls.push_back({event.start_ns, end_ns});
    if (process.calls.size() > kMostCalls) process.calls.pop_front();
    evidence_.add(id, event.start_ns, end_ns, end_ns - event.start_ns,
                  [&] { return std::string(context_.catalog.strings[event.name]) + ", called " + activity_.text(event.track, event.start_ns); });
  }
  void add_idle(const DeviceGap& gap) {
    const auto& windows = context_.windows.of(gap.process);
    for (std::size_t i = context_.windows.first_after(gap.process, gap.from_ns); i < windows.size() && windows[i].from_ns < gap.to_ns; ++i) {
      add_idle(gap, std::max(gap.from_ns, windows[i].from_ns), std::min(gap.to_ns, windows[i].to_ns));
    }
  }
  // What of [begin_ns, end_ns) lies in such calls; and where the GPU ran out of work in one, all to the next work.
  void add_idle(const DeviceGap& gap, std::int64_t begin_ns, std::int64_t end_ns) {
    const auto found = processes_.find(gap.process);
    if (found == processes_.end()) return;
    const std::deque<Call>& calls = found->second.calls;
    auto at = calls.end();
    while (at != calls.begin() && std::prev(at)->end_ns > gap.from_ns) --at;
    std::int64_t known_to_ns = begin_ns;
    for (; at != calls.end(); ++at) {
      const Call& call = *at;
      const std::int64_t from_ns = std::max(call.start_ns, known_to_ns);
      const std::int64_t to_ns = call.start_ns <= gap.from_ns && gap.from_ns < call.end_ns ? end_ns : std::min(call.end_ns, end_ns);
      if (from_ns >= to_ns) continue;
      idle_ns_[{gap.process, gap.device}] += to_ns - from_ns;
      known_to_ns = to_ns;
    }
  }

  const AnalysisContext& context_;
  const Windows steps_;
  HostActivity activity_;
  DeviceGaps gaps_;
  std::vector<std::uint8_t> names_;  // by StringId: 0 not asked, 1 no, 2 yes
  std::map<ProcessId, OfProcess> processes_;
  std::map<std::pair<ProcessId, std::int64_t>, std::int64_t> idle_ns_;  // by device
  LongestEvidence evidence_;
};

}  // namespace

RuleEntry allocation_in_step_rule() {
  return {.name = "allocation-in-step",
          .fires = "a GPU idles for 1 % of the time in, or after, calls that allocate or release its memory in steps after the second",
          .source = "Profiling, what to look for in Nsight Systems: \"cudaMalloc calls: Memory allocation during training (should use caching)\"",
          .needs = {.kinds = HostActivity::kinds(), .any_time = true},
          .make = make_rule<AllocationInStep>};
}

}  // namespace cli
