// Floating-point operations of operators whose inputs are in the profile (record_shapes), and the minimum number of
// bytes they move: each input read once, the output written once. A multiplication and an addition count as two
// operations.
//
//   mm, addmm, bmm, baddbmm, linear, _scaled_mm   2 M N K per matrix of a batch; packed FP4: K is twice the stored size
//   mv, addmv, dot                                2 M K
//   _grouped_mm, _scaled_grouped_mm               2 M N K for all groups, as if they covered all rows (or all of K)
//   convolution, forward                          2 x output elements x (input channels / groups) x kernel elements
//   transposed convolution, forward               2 x input elements x (output channels / groups) x kernel elements
//   convolution, backward                         the same as forward, for each of the two requested gradients
//   attention, forward                            2 B H P (D + V): two products
//   attention, backward                           2 B H P (3 D + 2 V): five products
//
// D and V are the head sizes of queries and values, P is the number of query-key pairs within the mask
// (attended_pairs()).
// Formulas: torch/utils/flop_counter.py, which counts every pair; signatures:
// aten/src/ATen/native/native_functions.yaml and flash_attn/flash_attn_interface.py.
#pragma once
#include <tuple>
#include <unordered_map>

#include "cli/answers/tables/gpu_peaks.h"
#include "cli/answers/tables/launch_ranges.h"
#include "cli/base/interning.h"

namespace cli {

struct OperatorCost {
  std::int64_t flop = 0;              // of one call, > 0
  std::optional<std::int64_t> bytes;  // empty if the output type is unknown
  std::string shape;                  // "16384x768 * 768x3072"; for attention also " causal", " window 128"
  MathType type = MathType::unknown;  // of the inputs; fp32 means float, which tensor cores may multiply as tf32
};

// The diagonal that a causal mask or a window follows if the numbers of queries and keys differ. top_left: query i sees
// keys 0 to i (SDPA's is_causal; cuDNN's and memory-efficient attention called by it). bottom_right: the last query
// sees all keys (FlashAttention since 2.1).
enum class MaskCorner : std::uint8_t { top_left, bottom_right };

struct AttentionMask {
  MaskCorner corner = MaskCorner::top_left;
  bool causal = false;
  std::int64_t left = -1, right = -1;  // window around the diagonal; -1 if unlimited on this side
};

// Returns twice the number of query-key pairs within a mask, for lengths from 1 to 2^30. Causal attention with equally
// many queries and keys counts half of all pairs, as FlashAttention's papers and benchmarks do; otherwise the exact
// number of pairs is used.
std::int64_t attended_pairs_twice(std::int64_t queries, std::int64_t keys, const AttentionMask& mask);

// Returns true if the operator is one of those above.
bool is_costed(std::string_view name);
// Empty if the operator is not one of those above or its inputs are incomplete.
std::optional<OperatorCost> cost_of(const Catalog& catalog, std::string_view name, OperatorInputId inputs);
// Returns why cost_of() is empty for an operator for which is_costed() is true.
std::string_view missing_cost(const Catalog& catalog, std::string_view name, OperatorInputId inputs);

// Returns how a kernel multiplies float inputs: fp32, tf32, or unknown if its name does not show it. `gpu` may be null.
MathType type_of_float(std::string_view kernel, const GpuPeaks* gpu);

// Calls of operators with a known cost (operator_flops.h), and the kernels they launched. In a profile, External ids
// join them. A recording has no such ids; there the innermost operator around the CUDA call counts. Memory is bounded:
// the newest calls of each process are kept.
class OperatorCalls {
 public:
  struct Kind {
    StringId name = 0;
    OperatorCost cost;            // without FLOP if unknown
    OperatorInputId inputs = {};  // of a call without a cost
  };
  struct Call {
    std::uint32_t kind = 0;
    bool ran = false;  // one of its kernels was looked up
  };

  explicit OperatorCalls(const AnalysisContext& context)
      : catalog_(context.catalog), processes_(catalog_.processes.size(), Calls(kMostCalls)), ranges_(context) {
    for (const Process& process : catalog_.processes) {
      are_profiles_.push_back(process.format == SourceFormat::kineto);
      only_profiles_ = only_profiles_ && are_profiles_.back();
    }
  }

  // Receives the events of kinds().
  void event(const Event& event, const Facts& facts) {
    if (only_profiles_ && (event.kind != cli::Kind::cpu_op || !is_costed(event.name))) return;
    const ProcessId process = catalog_.tracks[event.track].process;
    if (are_profiles_[process]) {
      if (event.kind != cli::Kind::cpu_op || !is_costed(event.name)) return;
      const auto* op = facts.get<OperatorFacts>();
      if (op != nullptr && op->external_id != 0) add(process, op->external_id, event, *op);
      return;
    }
    const auto* op = facts.get<OperatorFacts>();
    if (!is_slice(event)) return;
    settle(event.start_ns);
    if (is_api_call(event.kind)) return ranges_.call(event);
    if (event.kind != cli::Kind::cpu_op || op == nullptr) return;
    ranges_.open_at(event.track, event.start_ns);
    ranges_.open(event.track, {event.start_ns, slice_end(event, kLatest_ns), ++last_number_});
    add(process, last_number_, event, *op);
  }
  // Null if the kernel belongs to no call with a known cost.
  Call* of(const GpuWork& work) {
    const std::uint64_t number = number_of(work);
    if (number == 0) return nullptr;
    Calls& calls = processes_[work.process];
    const auto place = calls.find(number);
    if (place == Calls::kNone) return nullptr;
    const Kind& kind = kinds_[calls[place].kind];
    if (kind.cost.flop > 0) return &calls[place];
    without_cost_.try_emplace(kind.name, kind.inputs);
    return nullptr;
  }
  // See TraceObserver::end_of().
  void end_of(ProcessId process) {
    ranges_.end_of(process, [this](const Event& call) { launch(call); });
    processes_[process] = Calls(kMostCalls);
  }
  const Kind& operator[](std::uint32_t kind) const { return kinds_[kind]; }

  // Returns operators without a known cost whose kernels were looked up, with the inputs of one call (missing_cost()).
  const std::map<StringId, OperatorInputId>& without_cost() const { return without_cost_; }

  static KindSet kinds() { return kinds_of({cli::Kind::cpu_op, cli::Kind::runtime, cli::Kind::driver}); }

 private:
  static constexpr std::size_t kMostCalls = 1 << 16;  // per process; the oldest calls are dropped

  using Calls = Newest<Call>;  // by External id or our own number

  void settle(std::int64_t start_ns) {
    ranges_.settle(start_ns, [this](const Event& call) { launch(call); });
  }
  void launch(const Event& call) {
    const auto& open = ranges_.open_at(call.track, call.start_ns);
    ranges_.launches(call, open.empty() ? 0 : open.back().range);
  }
  // 0 if there is none.
  std::uint64_t number_of(const GpuWork& work) {
    if (are_profiles_[work.process]) {
      const auto* kernel = work.facts->get<ProfiledKernelFacts>();
      return kernel == nullptr ? 0 : kernel->external_id;
    }
    ranges_.settle([this](const Event& call) { launch(call); });
    const std::uint64_t* number = ranges_.of(work);
    return number == nullptr ? 0 : *number;
  }

  void add(ProcessId process, std::uint64_t number, const Event& event, const OperatorFacts& op) {
    const std::uint32_t kind = op.inputs == 0 || !is_costed(event.name) ? 0 : kind_of(event.name, op.inputs);
    Calls& calls = processes_[process];
    if (kind != 0 && calls.find(number) == Calls::kNone) calls.add(number, Call{kind, false});
  }

  // Most operators have no cost and are rejected by their name alone.
  bool is_costed(StringId name) {
    return costed_.is(catalog_.strings, name, [](std::string_view text) { return cli::is_costed(text); });
  }

  std::uint32_t kind_of(StringId name, OperatorInputId inputs) {
    const auto [known, is_new] = by_inputs_.try_emplace(std::uint64_t{name} << 32 | inputs.value, 0);
    if (!is_new) return known->second;
    auto cost = cost_of(catalog_, catalog_.strings[name], inputs);
    if (!cost) {
      kinds_.push_back({name, {}, inputs});
      return known->second = static_cast<std::uint32_t>(kinds_.size() - 1);
    }
    const auto [place, first] = by_shape_.try_emplace({name, cost->shape, cost->type, cost->flop, cost->bytes},
                                                      static_cast<std::uint32_t>(kinds_.size()));
    if (first) kinds_.push_back({name, std::move(*cost), {}});
    return known->second = place->second;
  }

  const Catalog& catalog_;
  std::vector<bool> are_profiles_;  // by ProcessId
  bool only_profiles_ = true;
  NameAnswers costed_;
  std::vector<Calls> processes_;
  std::vector<Kind> kinds_ = std::vector<Kind>(1);
  std::unordered_map<std::uint64_t, std::uint32_t> by_inputs_;  // by name and inputs
  std::map<std::tuple<StringId, std::string, MathType, std::int64_t, std::optional<std::int64_t>>, std::uint32_t>
      by_shape_;
  std::map<StringId, OperatorInputId> without_cost_;
  LaunchRanges<std::uint64_t, std::uint64_t> ranges_;  // ids of operators
  std::uint64_t last_number_ = 0;
};

}  // namespace cli
