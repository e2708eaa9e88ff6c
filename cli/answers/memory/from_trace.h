// The allocations in a recording or profile, as a snapshot, so that they are replayed and grouped like one.
#pragma once
#include <memory>
#include <vector>

#include "cli/formats/snapshot/snapshot.h"
#include "cli/trace/catalog.h"

namespace cli::memory {

// Collects device memory of all processes of a walk:
// - Kineto's "[memory]" instants: PyTorch's allocator, with its totals
// - recordings: allocations and releases of the driver (Kind::memory)
// The stack of an allocation consists of the operators, annotations, ranges and Python functions that are open on its
// thread. A trace has no segments, so what was allocated before it and is still in use is one block without a stack.
class TraceMemory : public EventSink {
 public:
  explicit TraceMemory(const Catalog& catalog);
  ~TraceMemory() override;

  // Kinds of events that it needs.
  static KindSet kinds();
  void event(const Event& event, const Facts& facts) override;

  // Returns one snapshot per process, by ProcessId. Processes without device memory have one without histories. Called
  // once, after the last event.
  std::vector<snapshot::Snapshot> finish();

 private:
  class OfProcess;

  const Catalog& catalog_;
  std::vector<std::unique_ptr<OfProcess>> processes_;
};

}  // namespace cli::memory
