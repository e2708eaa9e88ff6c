// Small kernels that an optimizer launches for one parameter each.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/tables/launch_ranges.h"
#include "cli/base/text.h"
#include "cli/trace/names.h"

namespace cli {

class OptimizerKernels {
 public:
  explicit OptimizerKernels(const AnalysisContext& context) : context_(context), ranges_(context), many_at_once_(context.catalog.strings.size()) {}
  static KindSet kinds() { return kinds_of({Kind::cpu_op, Kind::nvtx, Kind::user_annotation, Kind::runtime, Kind::driver}); }

  void event(const Event& event) {
    if (!is_slice(event) || !kinds().test(static_cast<std::size_t>(event.kind))) return;
    ranges_.settle(event.start_ns, [&](const Event& call) { launch(call); });
    if (is_api_call(event.kind)) {
      if (event.correlation != 0) ranges_.call(event);
    } else if (is_optimizer_step(context_.catalog.strings[event.name])) {
      ranges_.open(event.track, {event.start_ns, slice_end(event, kLatest_ns), {}});
    }
  }
  bool has(const GpuWork& work) {
    ranges_.settle([&](const Event& call) { launch(call); });
    if (work.kind != Kind::kernel || work.work_class != WorkClass::compute || work.end_ns - work.start_ns >= kTiny_ns) return false;
    return ranges_.of(work) != nullptr && !is_many_at_once(work.name);
  }
  // TraceObserver::end_of().
  void end_of(ProcessId process) {
    ranges_.end_of(process, [&](const Event& call) { launch(call); });
  }

 private:
  static constexpr std::int64_t kTiny_ns = 10'000;
  // Of kernels that update many parameters at once: PyTorch's foreach and fused optimizers, apex, compiled ones.
  static constexpr std::array<std::string_view, 4> kManyAtOnce{"multi_tensor", "foreach", "fused", "triton_"};
  struct InOptimizer {};

  static bool is_optimizer_step(std::string_view name) { return training_phase(name) == TrainingPhase::optimizer && name.find("zero_grad") == name.npos; }
  void launch(const Event& call) {
    if (!ranges_.open_at(call.track, call.start_ns).empty()) ranges_.launches(call, {});
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

  const AnalysisContext& context_;
  LaunchRanges<InOptimizer, InOptimizer> ranges_;
  std::vector<std::uint8_t> many_at_once_;  // by StringId: 0 not asked, 1 no, 2 yes
};

}  // namespace cli
