// unaligned-matmul: tensor core matrix multiplications whose rows do not begin at multiples of 16 bytes, because a size
// is not a multiple of 8 16-bit elements (4 for TF32, 16 for 8-bit types). Such a kernel loads one, two or four
// elements at a time.
//
// The names of CUTLASS and cuBLAS kernels contain the number of elements per load (align1, aligna2). If the name does
// not, the operator's shape shows whether the rows of the second operand and of the output are unaligned: N is the row
// size of both. M and K show nothing, because either operand may be transposed.
//
// Saving: a kernel that is limited by its loads needs want / align times as many as an aligned one, so the saving is at
// most time x (1 - align / want). If the operator's cost and the GPU's peaks are known, the time does not become
// shorter than they allow.
#include <charconv>
#include <numeric>

#include "cli/answers/rules/work_rule.h"
#include "cli/answers/tables/operator_flops.h"
#include "cli/timeline/gpu/name_rules.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastUnalignedShare = 20;  // 1 / N of the time

struct Alignment {
  std::int64_t elements = 0, wanted = 0;  // wanted: 0 if unknown
  bool is_bad() const { return elements < wanted; }
};

// `name` is a name from matched_name().
Alignment alignment_of(std::string_view name) {
  const auto has = [&](std::string_view word) { return name.find(word) != name.npos; };
  const bool is_product = has("gemm") && !has("implicit_gemm") && !has("fprop") && !has("dgrad") && !has("wgrad");
  const bool uses_tensor_cores = (has("tensorop") || has("_tensor16x8x")) && !has("simt") && !has("ffma");
  if (!is_product || !uses_tensor_cores) return {};
  std::size_t at = name.find("align");
  if (at == name.npos) return {};
  at += 5;
  if (at < name.size() && name[at] == 'a') ++at;  // aligna8_alignc4: the alignment of the inputs counts
  std::int64_t elements = 0;
  if (std::from_chars(name.data() + at, name.data() + name.size(), elements).ec != std::errc() || elements <= 0)
    return {};
  if (has("d884") || has("f64")) return {};
  if (has("s8") || has("u8") || has("e4m3") || has("e5m2")) return {elements, 16};
  if (has("tf32")) return {elements, 4};
  if (has("f16")) return {elements, 8};
  return has("s1688gemm") ? Alignment{elements, 4} : Alignment{};  // CUTLASS omits the type for TF32
}

// Returns the last size in "16384x768 * 768x3072"; 0 if there is none.
std::int64_t last_size(std::string_view shape) {
  const std::size_t at = shape.find_last_not_of("0123456789");
  std::int64_t size = 0;
  const char* const from = shape.data() + (at == shape.npos ? 0 : at + 1);
  if (shape.find(" * ") == shape.npos || std::from_chars(from, shape.data() + shape.size(), size).ec != std::errc())
    return 0;
  return size;
}

class UnalignedMatmul : public WorkRule {
 public:
  explicit UnalignedMatmul(const AnalysisContext& context)
      : WorkRule(context, kLeastUnalignedShare), calls_(context), peaks_(context.catalog, context.own_peaks) {}

  void event(const Event& event, const Facts& facts) override {
    WorkRule::event(event, facts);
    if (OperatorCalls::kinds().test(static_cast<std::size_t>(event.kind))) calls_.event(event, facts);
  }
  void end_of(ProcessId process) override {
    WorkRule::end_of(process);
    calls_.end_of(process);
  }
  std::string not_checked(const DiagnosisScope&, const std::vector<ResultTable>&) const override {
    return products_ > 0 && told_ == 0 ? "matrix sizes are in neither kernel names nor operator shapes" : "";
  }

 private:
  bool is_own(const GpuWork& work) override {
    if (work.kind != Kind::kernel || work.work_class != WorkClass::compute) return false;
    OperatorCalls::Call* call = calls_.of(work);
    const Name& name = name_at(work.name);
    const Alignment alignment = name.alignment.wanted > 0 || !name.is_gemm ? name.alignment : by_shape(call);
    products_ += name.is_gemm || call != nullptr;
    told_ += alignment.wanted > 0;
    if (!alignment.is_bad()) return false;
    const std::int64_t ns = work.end_ns - work.start_ns;
    Loss& loss = losses_[{work.process, work.device}];
    loss.time_ns += ns;
    loss.saving_ns +=
        ns - std::clamp(ns * alignment.elements / alignment.wanted, std::min(ns, least_ns(work, call)), ns);
    if (call != nullptr) shapes_ns_[{work.process, call->kind}] += ns;
    return true;
  }
  void explain(const DiagnosisScope& scope, ProcessId most, std::int64_t device, const Sum& sum,
               Finding& finding) const override {
    const Loss& loss = losses_.at({most, device});
    finding.saving_ns = static_cast<std::int64_t>(
        static_cast<double>(sum.exposed_ns) *
        (static_cast<double>(loss.saving_ns) / static_cast<double>(std::max<std::int64_t>(1, loss.time_ns))));
    finding.title =
        fmt::format("matrix multiplications with sizes that slow down tensor cores run {}; they take {}, mostly in {}",
                    times_text(scope, sum.count), per_step_text(scope, sum.exposed_ns), short_name_of(longest(most)));
    std::pair<std::int64_t, std::uint32_t> longest_shape{0, 0};
    for (const auto& [key, ns] : shapes_ns_) {
      if (key.first == most && ns > longest_shape.first) longest_shape = {ns, key.second};
    }
    if (longest_shape.second != 0) {
      const OperatorCalls::Kind& kind = calls_[longest_shape.second];
      finding.title += fmt::format(", {} of {}", name_of(kind.name), kind.cost.shape);
    }
    finding.advice =
        "Pad hidden sizes, the vocabulary, head sizes and batch sizes to multiples of 64 elements, or at least of 8 (TF32: 4, 8-bit types: 16), "
        "so that each row begins at a multiple of 16 bytes.";
  }

  struct Name {
    Alignment alignment;
    bool is_gemm = false;
  };
  struct Loss {
    std::int64_t time_ns = 0, saving_ns = 0;
  };

  const Name& name_at(StringId id) {
    const auto [found, is_new] = names_.try_emplace(id);
    const std::string_view text = context_.catalog.strings[id];
    if (is_new) found->second = {alignment_of(matched_name(text)), is_gemm_name(text)};
    return found->second;
  }
  // Returns the minimum GPU time of the operator call for the call's first kernel; 0 for its other kernels and if
  // unknown.
  std::int64_t least_ns(const GpuWork& work, OperatorCalls::Call* call) {
    const GpuPeaks* gpu =
        call == nullptr || call->kind == 0 || call->ran ? nullptr : peaks_.of(work.process, work.device);
    if (gpu == nullptr) return 0;
    call->ran = true;
    const OperatorCost& cost = calls_[call->kind].cost;
    const double moves_ns =
        cost.bytes && gpu->memory_gb_per_s > 0 ? static_cast<double>(*cost.bytes) / gpu->memory_gb_per_s : 0;
    return std::max(gpu->computing_ns(cost.flop, cost.type), static_cast<std::int64_t>(moves_ns));
  }
  // For 16-bit tensor core kernels whose names do not contain the alignment.
  Alignment by_shape(const OperatorCalls::Call* call) const {
    if (call == nullptr || call->kind == 0) return {};
    const OperatorCost& cost = calls_[call->kind].cost;
    const std::int64_t size = last_size(cost.shape);
    if ((cost.type != MathType::fp16 && cost.type != MathType::bf16) || size == 0) return {};
    return {std::gcd(size, std::int64_t{8}), 8};
  }

  OperatorCalls calls_;
  DevicePeaks peaks_;
  std::map<StringId, Name> names_;
  std::int64_t products_ = 0, told_ = 0;
  std::map<std::pair<ProcessId, std::int64_t>, Loss> losses_;              // by device
  std::map<std::pair<ProcessId, std::uint32_t>, std::int64_t> shapes_ns_;  // by kind of call
};

}  // namespace

RuleEntry unaligned_matmul_rule() {
  return rule_entry<UnalignedMatmul>(
      {.name = "unaligned-matmul",
       .fires =
           "matrix multiplications on tensor cores with sizes that are not multiples of 8 (TF32: 4, 8-bit types: 16) take more than 5 % of the time",
       .source =
           "NVIDIA, Matrix Multiplication Background User's Guide: https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html",
       .needs = {.kinds = WorkRule::needs().kinds | OperatorCalls::kinds()}});
}

}  // namespace cli::rules
