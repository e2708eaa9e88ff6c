#include "cli/export/kineto_operators.h"

#include <algorithm>

#include "cli/model/slice.h"

namespace cli {

std::uint64_t KinetoOperators::innermost(const Event& event) {
  const auto thread = open_.find(event.track);
  if (thread == open_.end()) return 0;
  std::erase_if(thread->second, [&](const Open& each) { return each.end_ns <= event.start_ns; });
  return thread->second.empty() ? 0 : thread->second.back().id;
}

std::uint64_t KinetoOperators::external_id(const Event& event, const Facts& facts) {
  if (is_gpu_work(event.kind)) {
    const auto place = event.correlation != 0 ? calls_.find(event.correlation) : Newest<std::uint64_t>::kNone;
    return place == Newest<std::uint64_t>::kNone ? 0 : calls_[place];
  }
  if (is_api_call(event.kind)) {
    const std::uint64_t id = innermost(event);
    // Of calls within each other with one correlation both lie in the same operator.
    if (id != 0 && event.correlation != 0) calls_.add(event.correlation, id);
    return id;
  }
  if (!is_slice(event) || facts.get<OperatorFacts>() == nullptr) return 0;
  innermost(event);
  open_[event.track].push_back({slice_end(event, kLatest_ns), ++last_id_});
  return last_id_;
}

}  // namespace cli
