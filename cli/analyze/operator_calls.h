// The calls of operators whose cost is known (operator_flops.h), found by their External ids. Bounded: the newest of each process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/analyze/analysis.h"
#include "cli/analyze/operator_flops.h"
#include "cli/model/newest.h"

namespace cli {

class OperatorCalls {
 public:
  struct Kind {
    StringId name = 0;
    OperatorCost cost;
  };
  struct Call {
    std::uint32_t kind = 0;
    bool ran = false;  // a kernel of it was asked for
  };

  explicit OperatorCalls(const Catalog& catalog) : catalog_(catalog), processes_(catalog.processes.size(), Calls(kMostCalls)) {}

  void event(const Event& event, const Facts& facts) {
    const auto* op = facts.get<OperatorFacts>();
    if (event.kind != cli::Kind::cpu_op || op == nullptr || op->external_id == 0 || op->inputs == 0) return;
    const std::uint32_t kind = kind_of(event.name, op->inputs);
    if (kind == 0) return;
    Calls& calls = processes_[catalog_.tracks[event.track].process];
    if (calls.find(op->external_id) == Calls::kNone) calls.add(op->external_id, Call{kind, false});
  }
  // Null: the kernel is of no call whose cost is known.
  Call* of(const GpuWork& work) {
    const auto* kernel = work.facts->get<ProfiledKernelFacts>();
    if (kernel == nullptr || kernel->external_id == 0) return nullptr;
    Calls& calls = processes_[work.process];
    const auto place = calls.find(kernel->external_id);
    return place == Calls::kNone ? nullptr : &calls[place];
  }
  const Kind& operator[](std::uint32_t kind) const { return kinds_[kind]; }

 private:
  static constexpr std::size_t kMostCalls = 1 << 16;  // of a process, whose kernels may come yet; the oldest are forgotten

  using Calls = Newest<Call>;  // by External id

  // 0: what it costs is not known.
  std::uint32_t kind_of(StringId name, OperatorInputId inputs) {
    const auto [known, is_new] = by_inputs_.try_emplace(std::uint64_t{name} << 32 | inputs.value, 0);
    if (!is_new) return known->second;
    auto cost = cost_of(catalog_, catalog_.strings[name], inputs);
    if (!cost) return 0;
    const auto [place, first] = by_shape_.try_emplace({name, cost->shape, cost->type, cost->flop, cost->bytes}, static_cast<std::uint32_t>(kinds_.size()));
    if (first) kinds_.push_back({name, std::move(*cost)});
    return known->second = place->second;
  }

  const Catalog& catalog_;
  std::vector<Calls> processes_;
  std::vector<Kind> kinds_ = std::vector<Kind>(1);
  std::unordered_map<std::uint64_t, std::uint32_t> by_inputs_;  // by name and inputs
  std::map<std::tuple<StringId, std::string, MathType, std::int64_t, std::optional<std::int64_t>>, std::uint32_t> by_shape_;
};

}  // namespace cli
