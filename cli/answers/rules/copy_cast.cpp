// copy-cast: kernels with which PyTorch copies tensors on the GPU to another type or layout.
#include "cli/answers/rules/work_rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastCopyCastShare = 20;  // 1 / N of the time

class CopyCast : public WorkRule {
 public:
  explicit CopyCast(const AnalysisContext& context) : WorkRule(context, kLeastCopyCastShare) {}

 private:
  // Kernels of aten::copy_ (aten/src/ATen/native/cuda/Copy.cu): direct_copy_kernel_cuda, bfloat16_copy_kernel_cuda,
  // ...; before 1.10 a lambda of copy_device_to_device. Only aten::copy_ has kernels with these names.
  bool is_own(const GpuWork& work) override {
    return work.kind == Kind::kernel && names_.is(context_.catalog.strings, work.name, [](std::string_view name) {
      return name.find("copy_kernel_cuda") != name.npos || name.find("copy_device_to_device") != name.npos;
    });
  }
  void explain(const DiagnosisScope& scope, ProcessId, std::int64_t, const Sum& sum, Finding& finding) const override {
    finding.title = fmt::format("tensors are copied to other types or layouts on the GPU {}; the copies take {}",
                                times_text(scope, sum.count), per_step_text(scope, sum.exposed_ns));
    finding.advice =
        "Cast once and keep the result (bfloat16 weights, torch.autocast around the whole model instead of .to() in each layer). Keep one layout (no .contiguous() after each transpose, "
        "channels_last throughout). torch.compile fuses casts with the kernels that read the result. The evidence names the operators.";
  }

  NameAnswers names_;
};

}  // namespace

RuleEntry copy_cast_rule() {
  return rule_entry<CopyCast>(
      {.name = "copy-cast",
       .fires = "copy kernels of aten::copy_ (called by aten::to and aten::contiguous) take more than 5 % of the time",
       .source = "PyTorch, torch.Tensor.to: https://pytorch.org/docs/stable/generated/torch.Tensor.to.html",
       .needs = WorkRule::needs()});
}

}  // namespace cli::rules
