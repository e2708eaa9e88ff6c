// Finds what a synchronization with a CUDA event waits for; CudaEventRecord in common/records/host_calls.h contains the
// rule. A wait may be earlier in the file than the recorded event, because CUPTI's buffers are per thread. Therefore
// waits, and the calls that record events, are held until the file is read. Memory: 32 bytes, and 100 for its index
// entry, per recorded event; about 150 per wait or recording call.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/trace/event.h"
#include "cli/trace/payload.h"
#include "common/record.h"

namespace cli::ring {

class RingCudaEvents {
 public:
  void add(const trace::CudaEventRecord& record) { records_.push_back(record); }
  // Holds a wait for an event, or a call that records one (is_record_call).
  void hold_wait(const Event& event, const SyncFacts& facts, std::uint64_t event_sync_id) {
    waits_.push_back({event, facts, event_sync_id});
  }
  void hold_call(const Event& event, std::uint32_t cbid) { calls_.push_back({event, cbid}); }
  static bool is_record_call(std::string_view name) { return name.starts_with("cudaEventRecord"); }

  // Emits each held event with the facts that are known. `is_complete` is true if no record of an event was lost or
  // dropped.
  using Emit = std::function<void(const Event&, const Facts& facts)>;
  void finish(bool is_complete, const Emit& emit);

 private:
  struct Wait {
    Event event;
    SyncFacts facts;
    std::uint64_t event_sync_id;
  };
  struct Call {
    Event event;
    std::uint32_t cbid;
  };
  void index();
  const trace::CudaEventRecord* awaited(const Wait& wait, bool is_complete) const;

  std::vector<trace::CudaEventRecord> records_;
  std::vector<Wait> waits_;
  std::vector<Call> calls_;
  std::unordered_map<std::uint64_t, const trace::CudaEventRecord*> by_sync_id_;
  std::unordered_map<std::uint32_t, const trace::CudaEventRecord*> by_correlation_;
  // By context and event, sorted by correlation.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const trace::CudaEventRecord*>> by_event_;
};

}  // namespace cli::ring
