// A chunk of events as columns: each field of all events together, because neighbours of a kind look alike, which zstd
// then packs to about half of what events one by one take.
//
//   u32 kColumns, a varint: how many columns are not empty, then of each of these its number and its bytes (varints), in
//   their order; then the columns one behind the other: those of `Column`, then one for each field of each payload, in
//   the order of AllPayloads and payload_fields() (cli/trace/payload.h). Numbers are varints; `zigzag` ones are signed
//   differences. A payload's column has an entry only for the events with this payload:
//     number, string, id, hex   as it is (signed ones zigzag, reals as their bits)
//     delta                     zigzag: minus the entry before it in the column (at first 0)
//   Behind these is a column for each slot of shapes (cli/trace/shapes.h), with the integers of this slot in the order of
//   events and holes, zigzag: minus the one before it in the column (at first 0), or, where that was its event's own
//   correlation (but not 0), minus the correlation of this event.
//
// Decoding trusts nothing: each column must hold exactly one entry per event.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/formats/ttrace/batch.h"

namespace cli::ttrace {

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
  payload,     // u8: its tag; 0: none
  args,        // 0: none; 1: the next of `text`; 2 + 2 n: the same as the nth of `text`; 3 + 2 n: the shape n
  text_bytes,  // of each argument text
  text,
  count_
};
inline constexpr std::size_t kCommonColumns = static_cast<std::size_t>(Column::count_);

// Counts the fields of a payload.
struct FieldCount {
  std::size_t fields = 0;
  template <typename T>
  constexpr void number(const char*, const T&, bool = true) { ++fields; }
  template <typename T>
  constexpr void delta(const char*, const T&, bool = true) { ++fields; }
  template <typename T>
  constexpr void hex(const char*, const T&, bool = true) { ++fields; }
  constexpr void string(const char*, StringId, bool = true) { ++fields; }
  template <typename T>
  constexpr void id(const char*, InternedId<T>, bool = true) { ++fields; }
};
template <typename P>
constexpr std::size_t fields_of() {
  FieldCount count;
  P payload{};
  payload_fields(count, payload);
  return count.fields;
}

// The first column of the payload with this tag; of kPayloads + 1: behind the last.
inline constexpr auto kFirstColumn = [] {
  std::array<std::size_t, kPayloads + 2> first{};
  std::size_t at = kCommonColumns;
  for_each_payload([&]<typename P>(P*) {
    first[payload_tag<P>()] = at;
    at += fields_of<P>();
  });
  first[kPayloads + 1] = at;
  return first;
}();
inline constexpr std::size_t kFixedColumns = kFirstColumn[kPayloads + 1];
inline constexpr std::size_t kColumns = kFixedColumns + kShapeSlots;
inline constexpr std::size_t kMostFields = [] {
  std::size_t most = 0;
  for_each_payload([&]<typename P>(P*) { most = std::max(most, fields_of<P>()); });
  return most;
}();
inline constexpr std::size_t kCorrelationSlots = 1024;

enum EventFlag : std::uint8_t {
  kHasBytes = 1,
  kArgsComplete = 2,
  kOpenStart = 4,
  kNoCategory = 8,
  kEncloses = 16,
  kScopeShift = 5,  // two bits: an index in kScopes
  kSecondIds = 128,
};
inline constexpr char kScopes[4] = {0, 't', 'p', 'g'};

// The events batch[order[begin]] ... batch[order[end - 1]] in this order (`order` null: batch[begin], ...).
void encode_events(const EventBatch& batch, const std::uint32_t* order, std::size_t begin, std::size_t end,
                   std::string& out);

// Takes the events of a chunk out of its columns, some at a time.
// Track, name, category and kind are the file's own numbers, not checked here.
class ColumnDecoder {
 public:
  // The shapes outlive it.
  explicit ColumnDecoder(const ShapeTable& shapes);
  ~ColumnDecoder();
  ColumnDecoder(ColumnDecoder&&) noexcept;
  ColumnDecoder& operator=(ColumnDecoder&&) noexcept;

  // A chunk of `count` events; `raw` lives until they are taken. Returns what is wrong, or nullptr.
  [[nodiscard]] const char* open(std::string_view raw, std::size_t count);
  // The next ones in place of what `out` held: `most` (> 0) at most, and fewer where they have `most_text` bytes of text;
  // none behind the last. Returns what is wrong, and then `out` is of no use, or nullptr.
  [[nodiscard]] const char* take(EventBatch& out, std::size_t most, std::size_t most_text = ~std::size_t{0});

 private:
  class Columns;
  std::unique_ptr<Columns> columns_;
  const ShapeTable* shapes_;
  std::size_t left_ = 0;  // events
};

// All of a chunk.
[[nodiscard]] const char* decode_events(std::string_view raw, std::size_t count, const ShapeTable& shapes, EventBatch& out);

}  // namespace cli::ttrace
