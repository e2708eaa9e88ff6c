// A chunk of events as columns: each field of all events together, because neighbours of a kind look alike, which zstd
// then packs to about half of what rows take.
//
//   u32 columns, u32 bytes of each column, then the columns, in the order of `Column`. More columns than known are
//   skipped. Numbers are varints; `zigzag` ones are signed differences.
//
// Decoding trusts nothing: each column must hold exactly one entry per event.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/read/merged_batch.h"

namespace cli {

enum class Column : std::uint32_t {
  start,        // zigzag: minus the start of the event before (the first: minus 0), ns
  duration,     // ns + 1; 0: unknown
  correlation,  // zigzag: minus the last correlation in the same slot (track modulo kCorrelationSlots; at first 0)
  bytes,        // only of events with the flag has_bytes
  track,
  name,
  category,
  kind,        // u8
  phase,       // u8
  flags,       // u8: EventFlag
  args,        // 0: none; 1: the next of `text`; n: the same as the (n-2)th of `text`
  text_bytes,  // of each argument text
  text,
  count_
};
inline constexpr std::size_t kColumns = static_cast<std::size_t>(Column::count_);
inline constexpr std::size_t kCorrelationSlots = 1024;

enum EventFlag : std::uint8_t {
  kHasBytes = 1,
  kArgsComplete = 2,
  kOpenStart = 4,
  kNoCategory = 8,
  kEncloses = 16,
  kScopeShift = 5,  // two bits: an index in kScopes
  kSecondRow = 128,
};
inline constexpr char kScopes[4] = {0, 't', 'p', 'g'};

// The events batch[order[begin]] ... batch[order[end - 1]] in this order (`order` null: batch[begin], ...).
void encode_events(const EventBatch& batch, const std::uint32_t* order, std::size_t begin, std::size_t end,
                   std::string& out);

// Appends nothing on failure that a caller may use; `out` is cleared first. Returns what is wrong, or nullptr.
// Track, name, category and kind are the file's own numbers, not checked here.
[[nodiscard]] const char* decode_events(std::string_view raw, std::size_t count, EventBatch& out);

}  // namespace cli
