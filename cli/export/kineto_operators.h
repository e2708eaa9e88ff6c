// The External ids of a recording's operators: Kineto numbers operators and annotations, and CUDA calls and what they launched have the
// number of the innermost one around the call (libkineto/src/CuptiActivity.cpp; TensorBoard joins kernels with operators by it).
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cli/model/catalog.h"
#include "cli/model/event.h"
#include "cli/model/newest.h"
#include "cli/model/payload.h"

namespace cli {

class KinetoOperators {
 public:
  // Of each event of one process, by time, whether it is written or not. 0: it has none.
  std::uint64_t external_id(const Event& event, const Facts& facts);

 private:
  struct Open {
    std::int64_t end_ns;
    std::uint64_t id;
  };
  static constexpr std::size_t kMostCalls = 1 << 16;  // whose work may come yet

  std::uint64_t innermost(const Event& event);

  std::unordered_map<TrackId, std::vector<Open>> open_;  // of each thread, by start
  Newest<std::uint64_t> calls_{kMostCalls};              // by correlation: the External id
  std::uint64_t last_id_ = 0;
};

}  // namespace cli
