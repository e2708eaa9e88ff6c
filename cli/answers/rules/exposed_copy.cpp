// exposed-copy: copies between host and GPU that no other GPU work hides. Unlike those of pageable-copy, the host does not
// wait for them, so they could run while kernels do.
#include "cli/answers/rules/work_rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastExposedCopyShare = 20;  // 1 / N of the time

class ExposedCopy : public WorkRule {
 public:
  explicit ExposedCopy(const AnalysisContext& context)
      : WorkRule(context, kLeastExposedCopyShare), names_(context.catalog.strings) {}

 private:
  bool is_own(const GpuWork& work) override {
    if (work.kind != Kind::memcpy) return false;
    const auto direction = names_[work.name].copy;
    return direction == DerivedTrack::copy_d2h ||
           (direction == DerivedTrack::copy_h2d && !blocks_to_device(work, names_));
  }
  void explain(const DiagnosisScope& scope, ProcessId, std::int64_t, const Sum& sum, Finding& finding) const override {
    finding.title = fmt::format("copies between host and GPU run {}; the GPU does nothing else for {}",
                                times_text(scope, sum.count), per_step_text(scope, sum.exposed_ns));
    finding.advice =
        "Copy while kernels run: from pinned memory, on a stream of its own, one batch or layer ahead (non_blocking=True, torch.cuda.Stream). Copy less: keep the data on the "
        "GPU, or copy smaller types. With offloading (FSDP, ZeRO, activations), offload less or prefetch more.";
  }

  NameClasses names_;
};

}  // namespace

RuleEntry exposed_copy_rule() {
  return rule_entry<ExposedCopy>(
      {.name = "exposed-copy",
       .fires =
           "copies between host and GPU, other than those of pageable-copy, run alone on the GPU for more than 5 % of the time",
       .source =
           "CUDA C++ Best Practices Guide, Asynchronous and Overlapping Transfers with Computation: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#asynchronous-and-overlapping-transfers-with-computation",
       .needs = WorkRule::needs()});
}

}  // namespace cli::rules
