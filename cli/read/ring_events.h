// One recording's records to events.
#pragma once
#include "cli/read/ring_device_events.h"
#include "cli/read/ring_host_events.h"
#include "cli/read/ring_kinds.h"
#include "cli/read/ring_notices.h"
#include "cli/read/ring_output.h"

namespace cli {

class RingEvents {
 public:
  RingEvents(const RingFile& file, Catalog& catalog, ProcessId process, EventSink& sink, ClockAxis axis);

  void block(const RingBlock& block);
  // Emits ranges that never ended, and writes what was noticed to the process.
  void finish();

 private:
  using Handler = void (RingEvents::*)(const RingBlock&, std::size_t at, std::size_t size);
  template <typename Record>
  void translate(const RingBlock& block, std::size_t at, std::size_t size);
  static Handler handler(std::uint8_t kind);
  void record(const RingBlock& block, std::size_t at, std::uint8_t kind, std::size_t size);

  RingOutput out_;
  RingDeviceEvents device_;
  RingHostEvents host_;
  RingNotices notices_;
  std::uint64_t unknown_records_ = 0;
  std::uint64_t holes_ = 0;  // blocks left out so far
  std::uint64_t damaged_blocks_ = 0, damaged_at_ = 0;  // those with something that is no record; where the first is
};

}  // namespace cli
