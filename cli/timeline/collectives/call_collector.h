// Finds the collectives of each process among the events of a trace.
//
// Of a recording, calls of NCCL are events; their work is what was launched within the call, or within the end of the group
// that holds it, on its thread. Work of a CUDA graph tells which call it was captured in; that call itself did nothing. Of a
// profile, kernels of NCCL are calls, and tell what PyTorch knew of them unless they were launched before it began; what a kernel
// of sends and receives does is told by PyTorch's operator or annotation that it was launched in ("nccl:all_to_all").
#pragma once
#include <cstdint>
#include <memory>

#include "cli/timeline/collectives/calls.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/payload.h"

namespace cli {

class CallCollector {
 public:
  virtual ~CallCollector() = default;

  // Every event, by start, enclosing ones first. `computes`: it is GPU work that computes, behind which communication hides.
  virtual void event(const Event& event, const Facts& facts, bool computes) = 0;

  // EventSink::end_of(): frees temporary data. Optional.
  virtual void end_of(ProcessId process) = 0;

  // After the last one, once.
  virtual CollectiveCalls take() = 0;
};

// What is found: `calls` are those, with the times of their work; `reasons` besides why a rank is late (CollectiveCall::exposed_ns
// and before, ProcessCalls::work and host_delay), which takes as long again.
enum class CallDetail : std::uint8_t { calls, reasons };

// `catalog` outlives it, and is complete.
std::unique_ptr<CallCollector> make_call_collector(const Catalog& catalog, CallDetail detail = CallDetail::reasons);

}  // namespace cli
