// Additional data of operators in Kineto's files: External ids, by which TensorBoard joins CUDA calls with operators,
// and flows from forward to backward operators. (libkineto/src/CuptiActivity.cpp; torch/csrc/profiler/collection.cpp.)
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/base/interning.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/payload.h"

namespace cli::kineto {

// Numbers operators and annotations. CUDA calls and the work that they launch have the number of the innermost operator
// around the call.
class ExternalIds {
 public:
  // Returns the External id of an event; 0 if it has none. Called for each event of one process, by time, even if it is
  // not written.
  std::uint64_t of(const Event& event);

 private:
  struct Open {
    std::int64_t end_ns;
    std::uint64_t id;
  };
  static constexpr std::size_t kMostCalls = 1 << 16;  // whose work may still come

  std::uint64_t innermost(const Event& event);

  std::unordered_map<TrackId, std::vector<Open>> open_;  // open operators of each thread, by start
  Newest<std::uint64_t> calls_{kMostCalls};              // External id by correlation
  std::uint64_t last_id_ = 0;
};

// Finds the forward operator of a backward operator: the last one with its sequence number on its forward thread. If
// several have the number (the node and its callees), the first one has the flow, ignoring the operators that
// autograd's engine runs around a node.
class Backward {
 public:
  struct Forward {
    std::int64_t start_ns = 0;
    std::string_view ids;  // location in the output; "" if it is not written or already has its flow
  };

  explicit Backward(const Catalog& catalog) : catalog_(catalog) {}

  // Returns the forward operator of a backward operator, if it was written. Called for each event of one process, by
  // time. `ids` is the event's location in the output and has to be valid as long as this; "" if it is not written.
  std::optional<Forward> forward_of(const Event& event, const Facts& facts, std::string_view ids);

 private:
  static constexpr std::size_t kMostForwards = 1 << 16;  // per thread, whose backward operators may still come

  std::optional<Forward> take(const OperatorFacts& op);

  const Catalog& catalog_;
  std::unordered_map<std::uint64_t, Newest<Forward>> forwards_;  // by PyTorch's thread number, then by sequence number
};

}  // namespace cli::kineto
