// unfused-attention: attention as two batched matrix multiplications with a softmax between them, so that every kernel
// moves the S x S score matrix through GPU memory. A fused kernel (FlashAttention) keeps it on the chip.
//
// The rule looks for this order of kernels on a stream: a matrix multiplication; then a softmax, with only elementwise
// kernels before and after it (scale, mask, casts, dropout); then a matrix multiplication. If the trace has operators,
// both products must belong to aten::bmm or aten::baddbmm; other products around a softmax are routers and losses.
//
// Saving: a fused kernel needs none of the kernels between the products, and its products neither write nor read the S
// x S matrix. The time of that traffic is at most the time of the softmax, which is also memory-bound, scaled by the
// number of times each moves the matrix. Forward, the softmax reads and writes it, and the products write and read it
// once. Backward, the softmax moves three such matrices, the products four. A fused kernel still computes both
// products: if their sizes and the GPU's peaks are known, it takes at least FLOP / peak.
#include "cli/answers/rules/rule.h"
#include "cli/answers/tables/named_classes.h"
#include "cli/answers/tables/operator_flops.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastAttentionShare = 20;  // 1 / N of the time: the saving
constexpr std::size_t kMostBetween = 12;  // kernels between the products: scale, bias, mask, casts, softmax, dropout

class UnfusedAttention : public Rule {
 public:
  explicit UnfusedAttention(const AnalysisContext& context)
      : Rule(context),
        ranges_(context),
        classes_(context.catalog.strings, context.class_rules),
        peaks_(context.catalog, context.own_peaks) {}

  void event(const Event& event, const Facts& facts) override {
    if (!is_slice(event)) return;
    ranges_.settle(event.start_ns, [&](const Event& call) { launch(call); });
    if (is_api_call(event.kind)) return ranges_.call(event);
    ranges_.open_at(event.track, event.start_ns);
    const auto* op = facts.get<OperatorFacts>();
    ranges_.open(
        event.track,
        {event.start_ns, slice_end(event, kLatest_ns), {event.name, op == nullptr ? OperatorInputId{} : op->inputs}});
  }
  void work(const GpuWork& work) override {
    ranges_.settle([&](const Event& call) { launch(call); });
    if (work.work_class == WorkClass::comm) return;
    std::optional<Sequence>& open = open_[work.event->track];
    switch (role_of(work)) {
      case Role::product:
        if (open && open->softmax_ns > 0) close(work, *open);
        open = Sequence{work.start_ns, work.end_ns - work.start_ns, least_ns(work)};
        break;
      case Role::softmax:
        if (!open) break;
        if (open->softmax_ns > 0) return open.reset();
        open->softmax_ns = work.end_ns - work.start_ns;
        open->is_backward = names_[work.name].is_backward;
        open->softmax = work.name;
        open->between_ns += work.end_ns - work.start_ns;
        ++open->between;
        break;
      case Role::elementwise:
        if (!open) break;
        open->between_ns += work.end_ns - work.start_ns;
        if (++open->between > kMostBetween) open.reset();
        break;
      case Role::other:
        open.reset();
        break;
    }
  }
  void end_of(ProcessId process) override {
    ranges_.end_of(process, [&](const Event& call) { launch(call); });
    std::erase_if(open_, [&](const auto& open) { return context_.catalog.tracks[open.first].process == process; });
  }

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>&) override {
    Fired fired;
    for (const auto& [device, sum] : sums_) {
      if (sum.saving_ns > scope.time.lengths_ns[device.first] / kLeastAttentionShare)
        fired.add(device.first, device.second, sum.saving_ns);
    }
    if (fired.empty()) return {};
    Finding finding = fired.finding(scope, evidence_);
    const Sum& sum = sums_.at({fired.most, fired.device});
    finding.title = fmt::format(
        "attention runs as separate kernels {}; the softmax and other kernels between the two matrix multiplications take {}",
        times_text(scope, sum.count), per_step_text(scope, sum.between_ns));
    finding.advice =
        "Use torch.nn.functional.scaled_dot_product_attention with is_causal=True or a mask: its fused kernels (FlashAttention, memory-efficient, cuDNN) never write the score matrix. "
        "If the model already calls it, the math backend ran: use float16 or bfloat16 and a supported mask and head size, or find the reason with torch.nn.attention.sdpa_kernel.";
    return {finding};
  }

 private:
  enum class Role : std::uint8_t { product, softmax, elementwise, other };
  struct Operator {
    StringId name = 0;
    OperatorInputId inputs{};
    auto operator<=>(const Operator&) const = default;
  };
  struct Sequence {
    std::int64_t start_ns = 0, products_ns = 0;
    std::int64_t least_ns = 0;  // minimum time of the first product
    std::int64_t softmax_ns = 0, between_ns = 0;
    std::size_t between = 0;
    bool is_backward = false;
    StringId softmax = 0;
  };
  struct Sum {
    std::int64_t count = 0, between_ns = 0, saving_ns = 0;
  };
  struct Name {
    bool seen = false, is_softmax = false, is_backward = false, is_product = false, is_elementwise = false;
  };

  void launch(const Event& call) {
    const auto& open = ranges_.open_at(call.track, call.start_ns);
    if (!open.empty()) ranges_.launches(call, open.back().range);
  }
  const Name& name_of(const GpuWork& work) {
    if (work.name >= names_.size())
      names_.resize(std::max(context_.catalog.strings.size(), work.name + std::size_t{1}));
    Name& name = names_[work.name];
    if (name.seen) return name;
    const std::string text = matched_name(context_.catalog.strings[work.name]);
    const auto has = [&](std::string_view word) { return text.find(word) != text.npos; };
    const std::string& class_name = classes_[classes_.of(work)];
    // PyTorch's log_softmax: cunn_SoftMaxForward<.., LogSoftMaxForwardEpilogue>, softmax_warp_forward<input, output, acc, log2, is_log, is_masked>.
    const std::size_t warp = text.find("softmax_warp_");
    bool is_log = has("logsoftmax") || has("log_softmax");
    if (warp != text.npos) {
      std::size_t at = text.find('<', warp);
      for (int i = 0; i < 4 && at != text.npos; ++i) at = text.find(',', at + 1);
      is_log = is_log || (at != text.npos && text.compare(at + 1, 5, " true") == 0);
    }
    name.seen = true;
    name.is_softmax = has("softmax") && !is_log && !has("cross_entropy") && !has("nll");
    name.is_backward = has("backward");
    name.is_product = class_name == "matmul";
    name.is_elementwise = class_name == "elementwise" || class_name == "memory" || has("dropout") || has("copy_kernel");
    return name;
  }
  Role role_of(const GpuWork& work) {
    if (work.kind != Kind::kernel) return work.kind == Kind::memset ? Role::elementwise : Role::other;
    const Name& name = name_of(work);
    if (name.is_softmax) return Role::softmax;
    if (name.is_elementwise) return Role::elementwise;
    if (!name.is_product) return Role::other;
    const Operator* op = ranges_.of(work);
    const std::string_view batched = op == nullptr ? "aten::bmm" : context_.catalog.strings[op->name];
    return batched == "aten::bmm" || batched == "aten::baddbmm" ? Role::product : Role::other;
  }

  // Returns the minimum GPU time of a product; 0 if unknown.
  std::int64_t least_ns(const GpuWork& work) {
    const Operator* op = ranges_.of(work);
    const GpuPeaks* gpu = op == nullptr || op->inputs == 0 ? nullptr : peaks_.of(work.process, work.device);
    if (gpu == nullptr) return 0;
    const auto [found, is_new] = costs_.try_emplace(*op);
    if (is_new) found->second = cost_of(context_.catalog, context_.catalog.strings[op->name], op->inputs);
    return found->second ? gpu->computing_ns(found->second->flop, found->second->type) : 0;
  }
  void close(const GpuWork& last, const Sequence& sequence) {
    const std::int64_t products_ns = sequence.products_ns + last.end_ns - last.start_ns;
    const std::int64_t traffic_ns = sequence.is_backward ? sequence.softmax_ns * 4 / 3 : sequence.softmax_ns;
    const std::int64_t most_ns =
        std::max<std::int64_t>(0, sequence.between_ns + products_ns - sequence.least_ns - least_ns(last));
    const std::int64_t saving_ns = std::min(most_ns, sequence.between_ns + std::min(traffic_ns, products_ns));
    Sum& sum = sums_[{last.process, last.device}];
    ++sum.count;
    sum.between_ns += sequence.between_ns;
    sum.saving_ns += saving_ns;
    evidence_.add(last.process, sequence.start_ns, last.end_ns, saving_ns,
                  [&] { return "around " + short_name_of(sequence.softmax); });
  }

  LaunchRanges<Operator, Operator> ranges_;
  NamedClasses classes_;
  DevicePeaks peaks_;
  std::map<Operator, std::optional<OperatorCost>> costs_;   // costs of products
  std::vector<Name> names_;                                 // by StringId
  std::map<TrackId, std::optional<Sequence>> open_;         // by stream
  std::map<std::pair<ProcessId, std::int64_t>, Sum> sums_;  // by device
  LongestEvidence evidence_;
};

}  // namespace

RuleEntry unfused_attention_rule() {
  return rule_entry<UnfusedAttention>(
      {.name = "unfused-attention",
       .fires =
           "attention runs as matrix multiplication, softmax, matrix multiplication, and a fused kernel could save more than 5 % of the time",
       .source =
           "PyTorch, torch.nn.functional.scaled_dot_product_attention: https://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
       .needs = {.kinds = kinds_of({Kind::cpu_op, Kind::runtime, Kind::driver})}});
}

}  // namespace cli::rules
