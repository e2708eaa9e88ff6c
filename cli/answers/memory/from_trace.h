// Converts the allocations in a recording or profile to a snapshot, so that they are replayed and grouped like one.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cli/answers/memory/allocations.h"
#include "cli/formats/snapshot/snapshot.h"
#include "cli/trace/catalog.h"

namespace cli::memory {

// Collects the device memory of all processes of a walk (allocations.h). Memory that was allocated before the trace and
// is in use at its end is one block without a stack.
class TraceMemory : public EventSink {
 public:
  explicit TraceMemory(const Catalog& catalog);
  ~TraceMemory() override;

  // Returns the kinds of events that a walk has to visit.
  static KindSet kinds();
  void event(const Event& event, const Facts& facts) override;

  // Returns one snapshot per process, by ProcessId. The snapshot of a process without device memory has no history.
  // Call it once, after the last event.
  std::vector<snapshot::Snapshot> finish();

  // Returns the times of the entries in a process's histories of PyTorch's allocator, by device. A snapshot has them in
  // microseconds only. Call it once per process.
  std::map<std::int64_t, std::vector<std::int64_t>> take_allocator_times_ns(ProcessId process);

 private:
  class OfProcess;

  const Catalog& catalog_;
  OpenStacks stacks_;
  std::vector<std::unique_ptr<OfProcess>> processes_;
};

}  // namespace cli::memory
