// What Kineto's writers say of operators besides what they are: External ids, by which TensorBoard joins CUDA calls with operators, and
// flows from forward operators to backward ones. (libkineto/src/CuptiActivity.cpp; torch/csrc/profiler/collection.cpp.)
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/base/interning.h"
#include "cli/trace/payload.h"

namespace cli::kineto {

// Operators and annotations have numbers, and CUDA calls and what they launched have that of the innermost operator around the call.
class ExternalIds {
 public:
  // Of each event of one process, by time, whether it is written or not. 0: it has none.
  std::uint64_t of(const Event& event);

 private:
  struct Open {
    std::int64_t end_ns;
    std::uint64_t id;
  };
  static constexpr std::size_t kMostCalls = 1 << 16;  // whose work may come yet

  std::uint64_t innermost(const Event& event);

  std::unordered_map<TrackId, std::vector<Open>> open_;  // operators of each thread, by start
  Newest<std::uint64_t> calls_{kMostCalls};              // by correlation: the External id
  std::uint64_t last_id_ = 0;
};

// A backward operator belongs to the last forward operator with its sequence number on its forward thread. Of several with one number
// (the node, and what it calls) the first has the flow, but not what autograd's engine runs around a node.
class Backward {
 public:
  struct Forward {
    std::int64_t start_ns = 0;
    std::string_view ids;  // where it was written; "": it was not, or has its flow
  };

  explicit Backward(const Catalog& catalog) : catalog_(catalog) {}

  // Of each event of one process, by time. `ids`: where it is written, for as long as this lives; "": it is not. Where it is a backward
  // operator whose forward one was written, that one.
  std::optional<Forward> forward_of(const Event& event, const Facts& facts, std::string_view ids);

 private:
  static constexpr std::size_t kMostForwards = 1 << 16;  // of a thread, whose backward ones may come yet

  std::optional<Forward> take(const OperatorFacts& op);

  const Catalog& catalog_;
  std::unordered_map<std::uint64_t, Newest<Forward>> forwards_;  // by thread as PyTorch numbers it, then by sequence number
};

}  // namespace cli::kineto
