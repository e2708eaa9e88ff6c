// single-tensor-optimizer: the optimizer launches small kernels for each parameter, and the GPU idles between them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/analyze/device_gaps.h"
#include "cli/analyze/launch_ranges.h"
#include "cli/diagnose/exposed_work.h"
#include "cli/diagnose/fired.h"
#include "cli/model/characters.h"
#include "cli/model/short_name.h"
#include "cli/model/training_phase.h"

namespace cli {
namespace {

constexpr std::int64_t kTiny_ns = 10'000;
constexpr std::int64_t kMostTiny = 200;               // a step
constexpr std::int64_t kLeastOptimizerShare = 100;    // 1 / so much of the time, of the idle time between them
// Of kernels that update many parameters at once: PyTorch's foreach and fused optimizers, apex, compiled ones.
constexpr std::array<std::string_view, 4> kManyAtOnce{"multi_tensor", "foreach", "fused", "triton_"};

class SingleTensorOptimizer : public Rule {
 public:
  explicit SingleTensorOptimizer(const AnalysisContext& context)
      : context_(context), ranges_(context), gaps_(context.catalog), many_at_once_(context.catalog.strings.size()), tiny_(context.windows) {}

  static ObserverNeeds needs() { return {.kinds = kinds_of({Kind::cpu_op, Kind::nvtx, Kind::user_annotation, Kind::runtime, Kind::driver}), .any_time = true}; }

  void event(const Event& event, const Facts&) override {
    if (!is_slice(event)) return;
    gaps_.event(event, context_.catalog.tracks[event.track].process);
    ranges_.settle(event.start_ns, [&](const Event& call) { launch(call); });
    if (is_api_call(event.kind)) {
      if (event.correlation != 0) ranges_.call(event);
    } else if (is_optimizer_step(context_.catalog.strings[event.name])) {
      ranges_.open(event.track, {event.start_ns, slice_end(event, kLatest_ns), {}});
    }
  }
  void work(const GpuWork& work) override {
    ranges_.settle([&](const Event& call) { launch(call); });
    const bool own = is_own(work);
    tiny_.add(work, own);
    std::optional<HostWait> wait;
    const auto gap = gaps_.work(work, wait);
    bool& after_own = after_own_[{work.process, work.device}];
    if (gap && own && after_own) add_idle(*gap);
    after_own = own;
  }

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>&) override {
    Fired fired;
    for (const auto& [device, sum] : tiny_.sums()) {
      const std::int64_t steps = scope.time.steps, idle_ns = idle_of(device);
      const bool many = steps > 0 && sum.count > kMostTiny * steps;
      if (many && idle_ns * kLeastOptimizerShare > scope.time.lengths_ns[device.first]) fired.add(device.first, device.second, idle_ns);
    }
    if (fired.empty()) return {};
    Finding finding = fired.finding(scope, evidence_);
    const ExposedWork::Sum& sum = tiny_.sums().at({fired.most, fired.device});
    finding.title = fmt::format("the optimizer launches {} kernels of less than 10 us a step: they take {}, the GPU idles {} between them", sum.count / scope.time.steps,
                                per_step_text(scope, sum.exposed_ns), per_step_text(scope, fired.most_ns));
    finding.advice = "One kernel for many parameters: fused=True or foreach=True of torch.optim, apex.optimizers.FusedAdam, or torch.compile of the optimizer's step.";
    return {finding};
  }

 private:
  struct InOptimizer {};

  static bool is_optimizer_step(std::string_view name) {
    return training_phase(name) == TrainingPhase::optimizer && name.find("zero_grad") == name.npos;
  }
  void launch(const Event& call) {
    if (!ranges_.open_at(call.track, call.start_ns).empty()) ranges_.launches(call, {});
  }
  bool is_own(const GpuWork& work) {
    if (work.kind != Kind::kernel || work.work_class != WorkClass::compute || work.end_ns - work.start_ns >= kTiny_ns) return false;
    return ranges_.of(work) != nullptr && !is_many_at_once(work.name);
  }
  bool is_many_at_once(StringId id) {
    if (id >= many_at_once_.size()) many_at_once_.resize(id + std::size_t{1});
    std::uint8_t& known = many_at_once_[id];
    if (known == 0) {
      std::string name(context_.catalog.strings[id]);
      std::transform(name.begin(), name.end(), name.begin(), [](char c) { return lower(c); });
      known = std::any_of(kManyAtOnce.begin(), kManyAtOnce.end(), [&](std::string_view word) { return name.find(word) != name.npos; }) ? 2 : 1;
    }
    return known == 2;
  }
  void add_idle(const DeviceGap& gap) {
    const auto& windows = context_.windows.of(gap.process);
    for (std::size_t i = context_.windows.first_after(gap.process, gap.from_ns); i < windows.size() && windows[i].from_ns < gap.to_ns; ++i) {
      const std::int64_t from_ns = std::max(gap.from_ns, windows[i].from_ns), to_ns = std::min(gap.to_ns, windows[i].to_ns);
      idle_ns_[{gap.process, gap.device}] += to_ns - from_ns;
      evidence_.add(gap.process, from_ns, to_ns, to_ns - from_ns, [&] { return "the GPU idles before " + short_name(context_.catalog.strings[gap.next->name]); });
    }
  }
  std::int64_t idle_of(const ExposedWork::Device& device) const {
    const auto found = idle_ns_.find(device);
    return found == idle_ns_.end() ? 0 : found->second;
  }

  const AnalysisContext& context_;
  LaunchRanges<InOptimizer, InOptimizer> ranges_;
  DeviceGaps gaps_;
  std::vector<std::uint8_t> many_at_once_;  // by StringId: 0 not asked, 1 no, 2 yes
  ExposedWork tiny_;
  std::map<ExposedWork::Device, bool> after_own_;  // its newest work was such a kernel
  std::map<ExposedWork::Device, std::int64_t> idle_ns_;
  LongestEvidence evidence_;
};

}  // namespace

RuleEntry single_tensor_optimizer_rule() {
  return {.name = "single-tensor-optimizer",
          .fires = "an optimizer launches more than 200 kernels of less than 10 us a step, none of them for many parameters, and the GPU idles 1 % of the time between them",
          .source = "Profiling: \"Many tiny GPU kernels (< 10 us each): torch.compile, CUDA Graphs, fuse ops\"; torch.profiler's pattern OptimizerSingleTensorPattern",
          .needs = SingleTensorOptimizer::needs(),
          .make = make_rule<SingleTensorOptimizer>};
}

}  // namespace cli
