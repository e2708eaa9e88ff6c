// fp32-matmul: float32 matrix multiplications and convolutions without tensor cores, on a GPU with tensor cores for TF32
// (compute capability 8.0 and up).
#include "cli/answers/rules/work_rule.h"
#include "cli/answers/tables/gpu_peaks.h"
#include "cli/formats/reading/devices.h"
#include "cli/timeline/gpu/name_rules.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastFp32Share = 20;  // 1 / N of the time
constexpr std::uint32_t kTf32Capability = 8;

// Names of kernels that multiply in fp32, from cuBLAS, CUTLASS and cuDNN. "s" before gemm means single precision; simt
// and ffma are units without tensor cores; f32f32_f32f32_f32 are the types of inputs and output, of the product and of
// the sums. tensorop and s1688 are tensor cores, tf32f32 is TF32. The format is that of name_rules.h; the first
// matching line counts.
constexpr std::string_view kProductNames = R"(
tensor_cores  *{tf32,tensorop,1688gemm,16816gemm}*
fp32          *{_sgemm,sgemm_,simt_sgemm}*
fp32          *f32f32_f32f32_f32_*
fp32          gemmsn_{nn,nt,tn,tt}_kernel<float,*
)";

// Kernels compiled for these architectures need a GPU of at least this capability.
constexpr std::string_view kArchitectureNames = R"(
tf32  *{ampere_,hopper_,blackwell_,sm80_,sm86_,sm90_,sm100_,cutlass_80_,cutlass_90_}*
)";

class Fp32Matmul : public WorkRule {
 public:
  explicit Fp32Matmul(const AnalysisContext& context)
      : WorkRule(context, kLeastFp32Share),
        products_(kProductNames, "fp32-matmul"),
        architectures_(kArchitectureNames, "fp32-matmul"),
        names_(context.catalog.strings.size()) {}

 private:
  struct Name {
    bool seen = false, is_fp32 = false, tells_architecture = false;
  };

  bool is_own(const GpuWork& work) override {
    if (work.kind != Kind::kernel || work.work_class != WorkClass::compute) return false;
    const Name& name = at(work.name);
    return name.is_fp32 && (name.tells_architecture || has_tf32(work));
  }
  void explain(const DiagnosisScope& scope, ProcessId most, std::int64_t device, const Sum& sum,
               Finding& finding) const override {
    finding.title =
        fmt::format("float32 matrix multiplications run without tensor cores {}; they take {}, mostly in {}",
                    times_text(scope, sum.count), per_step_text(scope, sum.exposed_ns), short_name_of(longest(most)));
    finding.advice =
        "If the model tolerates it, use TF32 (torch.set_float32_matmul_precision(\"high\"); for convolutions torch.backends.cudnn.allow_tf32) or bfloat16 (torch.autocast).";
    finding.saving_ns.reset();
    const GpuPeaks* gpu = peaks_of(context_.catalog.processes[most], device);
    if (gpu == nullptr || gpu->tf32 <= gpu->fp32) return;
    finding.saving_ns = static_cast<std::int64_t>(static_cast<double>(sum.exposed_ns) * (1 - gpu->fp32 / gpu->tf32));
  }

  const Name& at(StringId id) {
    if (id >= names_.size()) names_.resize(id + std::size_t{1});
    Name& name = names_[id];
    if (name.seen) return name;
    const std::string matched = matched_name(context_.catalog.strings[id]);
    const NameRules::Rule* product = products_.of(matched);
    return name = {true, product != nullptr && product->class_name == "fp32", architectures_.of(matched) != nullptr};
  }
  bool has_tf32(const GpuWork& work) {
    const auto [known, is_new] = has_tf32_.try_emplace({work.process, work.device}, false);
    if (!is_new) return known->second;
    const Process& process = context_.catalog.processes[work.process];
    const auto device = device_facts(process, work.device);
    const GpuPeaks* gpu = peaks_of(process, work.device);
    return known->second = device && device->compute_major > 0 ? device->compute_major >= kTf32Capability
                                                               : gpu != nullptr && gpu->tf32 > 0;
  }

  NameRules products_, architectures_;
  std::vector<Name> names_;                                      // by StringId
  std::map<std::pair<ProcessId, std::int64_t>, bool> has_tf32_;  // by device
};

}  // namespace

RuleEntry fp32_matmul_rule() {
  return rule_entry<Fp32Matmul>(
      {.name = "fp32-matmul",
       .fires =
           "float32 matrix multiplications without tensor cores take more than 5 % of the time, on a GPU with tensor cores for TF32",
       .source =
           "PyTorch, CUDA semantics, TensorFloat-32 on Ampere: https://pytorch.org/docs/stable/notes/cuda.html#tensorfloat-32-tf32-on-ampere-and-later-devices",
       .needs = WorkRule::needs()});
}

}  // namespace cli::rules
