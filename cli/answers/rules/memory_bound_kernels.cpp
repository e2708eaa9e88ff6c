// memory-bound-kernels: kernels that wait for GPU memory more than they compute. Operators with known inputs are judged
// by the table roofline, which contains their share of the memory bandwidth. Other kernels are judged by their class:
// elementwise, reduction and normalization kernels compute little per byte.
#include "cli/answers/rules/work_rule.h"
#include "cli/answers/tables/named_classes.h"
#include "cli/answers/tables/operator_flops.h"

namespace cli::rules {
namespace {

constexpr double kMostOfRoofPercent = 60;          // operators closer to their roof cannot gain much
constexpr std::int64_t kLeastOperatorShare = 10;   // 1 / N of the time: such operators
constexpr std::int64_t kLeastClassesPercent = 40;  // of all kernels and copies
// 1 / N of the time; on a GPU that idles, these kernels are not the problem
constexpr std::int64_t kLeastClassesShare = 5;
constexpr std::int64_t kFewestKernels = 20;
constexpr std::array<std::string_view, 3> kClasses{"elementwise", "normalization", "reduction"};
constexpr std::int64_t kSkippedSteps = 2;  // by ncu: warm-up

class MemoryBoundKernels : public Rule {
 public:
  explicit MemoryBoundKernels(const AnalysisContext& context)
      : Rule(context),
        calls_(context),
        classes_(context.catalog.strings, context.class_rules),
        in_classes_(context.windows) {}

  void event(const Event& event, const Facts& facts) override { calls_.event(event, facts); }
  void work(const GpuWork& work) override {
    const std::int64_t ns = work.end_ns - work.start_ns;
    const bool own = work.kind == Kind::kernel &&
                     std::find(kClasses.begin(), kClasses.end(), classes_[classes_.of(work)]) != kClasses.end();
    in_classes_.add(work, own);
    all_ns_[{work.process, work.device}] += ns;
    if (work.kind == Kind::kernel) ++launched_[work.process][work.name];
    if (own) add(of_classes_[work.process], evidence_of_classes_, work);
    const OperatorCalls::Call* call =
        work.kind == Kind::kernel && work.work_class == WorkClass::compute ? calls_.of(work) : nullptr;
    if (call != nullptr) add(of_operators_[{work.process, call->kind}], evidence_of_operators_[call->kind], work);
  }

  void end_of(ProcessId process) override {
    calls_.end_of(process);
    in_classes_.end_of(process);
    conclude(process);
  }

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) override {
    while (!launched_.empty()) conclude(launched_.begin()->first);
    std::vector<Finding> findings;
    if (auto operators = find_operators(scope, TableReading(tables, "roofline")))
      findings.push_back(std::move(*operators));
    if (auto classes = find_classes(scope)) findings.push_back(std::move(*classes));
    return findings;
  }

 private:
  struct Launches {
    std::int64_t count = 0, ns = 0;
  };
  using Kernels = std::map<StringId, Launches>;
  // The kernel with the most GPU time, and the number of launches of its function.
  struct TopKernel {
    StringId name = 0;
    std::int64_t ns = 0, launched = 0;
  };

  // Keeps only the process's kernel with the most GPU time.
  void conclude(ProcessId id) {
    const auto launched = launched_.find(id);
    if (launched == launched_.end()) return;
    std::unordered_map<std::uint32_t, std::int64_t> of_function;
    for (const auto& [name, count] : launched->second) of_function[function_of(name)] += count;
    const auto top = [&](const Kernels& kernels) {
      const auto most = longest(kernels);
      return TopKernel{most->first, most->second.ns, of_function[function_of(most->first)]};
    };
    if (const auto kernels = of_classes_.find(id); kernels != of_classes_.end()) {
      top_of_classes_[id] = top(kernels->second);
      of_classes_.erase(kernels);
    }
    const auto first = of_operators_.lower_bound({id, 0}), end = of_operators_.lower_bound({id + 1, 0});
    for (auto at = first; at != end; ++at) top_of_operators_[at->first] = top(at->second);
    of_operators_.erase(first, end);
    launched_.erase(launched);
  }
  // ncu counts all kernels with this function name.
  std::uint32_t function_of(StringId name) {
    if (name >= functions_.size()) functions_.resize(name + std::size_t{1}, kUnseen);
    if (functions_[name] == kUnseen)
      functions_[name] = function_names_.intern(function_name(context_.catalog.strings[name]));
    return functions_[name];
  }

  void add(Kernels& kernels, LongestEvidence& evidence, const GpuWork& work) {
    Launches& launches = kernels[work.name];
    ++launches.count;
    launches.ns += work.end_ns - work.start_ns;
    evidence.add(work.process, work.start_ns, work.end_ns, work.end_ns - work.start_ns,
                 [&] { return short_name_of(work.name); });
  }

  // The operators of a rank that are far from the memory bandwidth, from the table.
  struct Operators {
    std::int64_t time_ns = 0, saving_ns = 0;
    std::size_t rows = 0, top = 0;  // top: the row with the most time
  };
  std::optional<Finding> find_operators(const DiagnosisScope& scope, const TableReading& roofline) const {
    std::map<std::int64_t, Operators> ranks;
    for (std::size_t row = 0; row < roofline.rows(); ++row) {
      const double percent = roofline.get<double>(row, "of_roof_pct").value_or(100);
      if (roofline.get<std::string>(row, "bound") != "memory" || percent >= kMostOfRoofPercent) continue;
      Operators& rank = ranks[roofline.get<std::int64_t>(row, "rank").value_or(-1)];
      const std::int64_t ns = roofline.number(row, "time_ns");
      if (rank.rows++ == 0) rank.top = row;
      rank.time_ns += ns;
      rank.saving_ns += static_cast<std::int64_t>(static_cast<double>(ns) * (1 - percent / 100));
    }
    std::erase_if(ranks,
                  [&](const auto& each) { return each.second.time_ns <= scope.time.length_ns / kLeastOperatorShare; });
    if (ranks.empty()) return std::nullopt;
    const auto most = std::ranges::max_element(ranks, {}, [](const auto& each) { return each.second.saving_ns; });
    const std::size_t top = most->second.top;
    const std::string name = roofline.get<std::string>(top, "name").value_or(""),
                      shape = roofline.get<std::string>(top, "shape").value_or("");
    Finding finding;
    for (const auto& [rank, operators] : ranks) finding.ranks.push_back(rank);
    finding.saving_ns = most->second.saving_ns;
    finding.title = fmt::format(
        "memory-bound operators reach less than {:.0f} % of the memory bandwidth: {} in {}, mostly in {} of {}, which reaches {:.1f} %",
        kMostOfRoofPercent, per_step_text(scope, most->second.time_ns), count_text(most->second.rows, "shape"), name,
        shape, roofline.get<double>(top, "of_roof_pct").value_or(0));
    finding.advice =
        "Use larger or padded shapes (multiples of 8 for tensor cores), combine small matrix multiplications (torch.bmm, grouped GEMM), and keep operands contiguous. "
        "torch.compile fuses the operators before and after.";
    name_kernels(scope, most->first, name, shape, finding);
    return finding;
  }
  // Adds the evidence of that operator and the kernel for ncu.
  void name_kernels(const DiagnosisScope& scope, std::int64_t rank, const std::string& name, const std::string& shape,
                    Finding& finding) const {
    for (const auto& [key, kernel] : top_of_operators_) {
      const auto& [id, kind] = key;
      if (scope.rank(id) != rank || context_.catalog.strings[calls_[kind].name] != name ||
          calls_[kind].cost.shape != shape)
        continue;
      finding.evidence = evidence_of_operators_.at(kind).of(scope, {id});
      finding.next_command = ncu_of(scope, id, kernel);
      return;
    }
  }

  std::optional<Finding> find_classes(const DiagnosisScope& scope) const {
    Fired fired;
    for (const auto& [device, sum] : in_classes_.sums()) {
      const bool many = sum.count >= kFewestKernels && 100 * sum.time_ns > kLeastClassesPercent * all_ns_.at(device);
      if (many && sum.exposed_ns > scope.time.lengths_ns[device.first] / kLeastClassesShare)
        fired.add(device.first, device.second, sum.exposed_ns);
    }
    if (fired.empty()) return std::nullopt;
    Finding finding = fired.finding(scope, evidence_of_classes_);
    const TopKernel& top = top_of_classes_.at(fired.most);
    const ExposedWork::Sum& sum = in_classes_.sums().at({fired.most, fired.device});
    finding.title = fmt::format(
        "elementwise, reduction and normalization kernels take {} % of the time of kernels and copies, {}; the longest is {}, {}",
        100 * sum.time_ns / all_ns_.at({fired.most, fired.device}), per_step_text(scope, sum.time_ns),
        short_name_of(top.name), per_step_text(scope, top.ns));
    finding.advice =
        "Fuse these kernels so that intermediate results stay on the chip: torch.compile, or fused kernels (FlashAttention; fused normalization, loss and optimizer). "
        "Use bfloat16 to halve the bytes, and memory_format=torch.channels_last for convolutions.";
    finding.next_command = ncu_of(scope, fired.most, top);
    return finding;
  }

  static Kernels::const_iterator longest(const Kernels& kernels) {
    return std::ranges::max_element(kernels, {}, [](const auto& each) { return each.second.ns; });
  }
  // Returns "" if ncu does not support this GPU.
  std::string ncu_of(const DiagnosisScope& scope, ProcessId id, const TopKernel& kernel) const {
    const Process& process = context_.catalog.processes[id];
    if (process.device_name.starts_with("AMD")) return {};
    const std::int64_t a_step = scope.time.steps > 0 ? kernel.launched / scope.time.steps : 0;
    return ncu_command(context_.catalog.strings[kernel.name], kSkippedSteps * a_step, process.program);
  }

  OperatorCalls calls_;
  NamedClasses classes_;
  ExposedWork in_classes_;
  std::map<ExposedWork::Device, std::int64_t> all_ns_;
  // For processes that have not ended:
  std::map<ProcessId, std::unordered_map<StringId, std::int64_t>> launched_;  // kernels by name
  std::map<ProcessId, Kernels> of_classes_;
  std::map<std::pair<ProcessId, std::uint32_t>, Kernels> of_operators_;  // by kind
  // For ended processes:
  std::map<ProcessId, TopKernel> top_of_classes_;
  std::map<std::pair<ProcessId, std::uint32_t>, TopKernel> top_of_operators_;  // by kind
  static constexpr std::uint32_t kUnseen = ~std::uint32_t{0};
  std::vector<std::uint32_t> functions_;  // index of the function name in the next member, by StringId
  Strings function_names_;
  LongestEvidence evidence_of_classes_;
  std::map<std::uint32_t, LongestEvidence> evidence_of_operators_;
};

}  // namespace

RuleEntry memory_bound_kernels_rule() {
  return rule_entry<MemoryBoundKernels>(
      {.name = "memory-bound-kernels",
       .fires =
           "memory-bound operators (table roofline) that reach less than 60 % of the memory bandwidth take more than 10 % of the time, or elementwise, reduction and normalization kernels "
           "take more than 40 % of the kernel time",
       .source =
           "NVIDIA, GPU Performance Background User's Guide: https://docs.nvidia.com/deeplearning/performance/dl-performance-gpu-background/index.html",
       .tables = {"roofline"},
       .needs = {.kinds = kinds_of({Kind::cpu_op})}});
}

}  // namespace cli::rules
