// When the host stood still until its GPU had come so far: in a call whose name says that it synchronizes, or in a copy that
// did not return before it was done. Of the latter is a copy whose call ended no earlier than the copy itself, where the call
// is one of the blocking ones (cudaMemcpy) or the memory of the host is pageable, through which no copy is asynchronous.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "cli/answers/tables/analysis.h"
#include "cli/trace/name_classes.h"

namespace cli {

struct HostWait {
  TrackId track = 0;  // the thread
  StringId name = 0;  // of the call
  std::int64_t start_ns = 0, end_ns = 0;
  bool for_copy = false;  // in the call of a copy
  bool to_device = false;  // which goes from the host to the device
};

class HostWaits {
 public:
  explicit HostWaits(const Catalog& catalog) : catalog_(catalog), names_(catalog.strings) {}

  // None: it is no such call, it has no end, or it lies within another such call of its thread, as the driver's in the runtime's.
  std::optional<HostWait> of(const Event& call);
  // The same of copies; once for each call.
  std::optional<HostWait> of(const GpuWork& work);
  // Whether the call of this work, which is known, is that of a copy that blocks.
  bool blocks(const GpuWork& work);
  // Call it after the process's last event.
  void forget(ProcessId process) {
    std::erase_if(last_, [&](const auto& each) { return catalog_.tracks[each.first].process == process; });
  }

 private:
  std::optional<HostWait> outermost(const HostWait& wait);

  const Catalog& catalog_;
  NameClasses names_;
  std::unordered_map<TrackId, HostWait> last_;  // of each thread
};

}  // namespace cli
