// Records about the recording itself: its clocks, and incidents. In CLOCK_MONOTONIC.
#pragma once
#include "common/records/record_kind.h"

namespace trace {

// The clocks, read together: CUPTI's clock between two readings of CLOCK_MONOTONIC. Written about once a second.
struct ClockRecord {
  static constexpr RecordKind kKind{31};
  static constexpr std::string_view kName = "clock";
  static constexpr bool kByAgent = true;
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t uncertainty_ns;  // distance of the two readings of CLOCK_MONOTONIC
  std::uint64_t cupti_ns;    // 0 if CUPTI was not available
  std::uint64_t mono_ns;     // the middle of the two readings
  std::uint64_t real_ns;     // CLOCK_REALTIME at that moment
};

// An incident in the recording itself.
enum class NoticeCode : std::uint8_t {
  gap = 1,           // records of this time are missing: another tool used CUPTI's buffers or switched kinds off
  fatal = 2,         // CUPTI stopped after a sticky error (`value`: CUptiResult)
  reduced_to_light = 3,  // the cost guard reduced what is recorded
  source_on = 4,     // the agent uses CUPTI from here on, after another tool; ends the gap with the same start
  clock_changed = 5, // another tool gave CUPTI a clock, or removed it; the first times after that are unknown
  graphs_unknown = 6,  // graphs were captured before the recording began, so their nodes have no ranges
  spool_ended = 7,  // the spool could not grow (`value`: errno); only the ring continues
  stalled = 8,  // no work ended for long; running work was recorded without its end (`value`: number of records; 0 if CUPTI was not flushed)
  reduced_to_steps = 9,  // the cost guard reduced what is recorded of PyTorch
  hang = 10,  // no work ended and no operator began in this time; `value` Python threads have a stack
  torch_unknown = 11,  // the layout of PyTorch is unknown; operators or their inputs are no longer recorded
};

struct NoticeRecord {
  static constexpr RecordKind kKind{37};
  static constexpr std::string_view kName = "notice";
  static constexpr bool kByAgent = true;
  static constexpr std::string_view kCountsAs = "notice";
  std::uint8_t kind, size_words;
  std::uint8_t code;  // NoticeCode
  std::uint8_t reserved;
  std::uint32_t value;
  std::uint64_t start_mono_ns;
  std::uint64_t end_mono_ns;  // equal to the start for an instant; 0 if it had not ended
  std::uint32_t text_ref;     // a sentence for users; kNoRef if none
  std::uint32_t reserved2;
};

}  // namespace trace
