// About the recording itself: its clocks, and what happened to it. In CLOCK_MONOTONIC.
#pragma once
#include "common/records/record_kind.h"

namespace trace {

// The clocks read together: CUPTI's between two readings of CLOCK_MONOTONIC. Written about once a second.
struct ClockRecord {
  static constexpr RecordKind kKind{31};
  static constexpr std::string_view kName = "clock";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t uncertainty_ns;  // distance of the two readings of CLOCK_MONOTONIC
  std::uint64_t cupti_ns;    // 0: CUPTI was not there
  std::uint64_t mono_ns;     // the middle of the two readings
  std::uint64_t real_ns;     // CLOCK_REALTIME at that moment
};

// What happened to the recording itself.
enum class NoticeCode : std::uint8_t {
  gap = 1,           // records of this time are missing: another tool had taken CUPTI's buffers or switched kinds off
  fatal = 2,         // CUPTI ended itself after an error that sticks (`value`: CUptiResult)
  reduced_to_light = 3,  // the cost guard reduced what is recorded
  source_on = 4,     // CUPTI, another's before, is ours from now on; a gap that this ends has the same start
  clock_changed = 5, // somebody gave CUPTI another clock, or took it away again: whose first times are unknown
  graphs_unknown = 6,  // graphs were captured before we were there: their nodes have no ranges
  spool_ended = 7,  // the spool could not grow (`value`: errno): from here on only the ring is kept
  stalled = 8,  // CUPTI had nothing that ended for long: what ran was taken without its end (`value`: so many records; 0: left)
  reduced_to_steps = 9,  // the cost guard reduced what is recorded of PyTorch
  hang = 10,  // no work ended and no operator began in this time: so many Python threads have a stack (`value`)
  torch_unknown = 11,  // the layout of PyTorch is unknown: from here on, operators or their inputs are not recorded
};

struct NoticeRecord {
  static constexpr RecordKind kKind{37};
  static constexpr std::string_view kName = "notice";
  static constexpr std::string_view kCountsAs = "notice";
  std::uint8_t kind, size_words;
  std::uint8_t code;  // NoticeCode
  std::uint8_t reserved;
  std::uint32_t value;
  std::uint64_t start_mono_ns;
  std::uint64_t end_mono_ns;  // the same for a moment; 0: had not ended
  std::uint32_t text_ref;     // a sentence for people; kNoRef: none
  std::uint32_t reserved2;
};

}  // namespace trace
