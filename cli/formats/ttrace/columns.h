// Encodes a chunk of events as columns: each field of all events together. Neighbouring values are similar, so zstd
// compresses columns to about half the size of single events.
//
//   u32 kColumns, a varint: number of columns that are not empty; then for each of these its number and its size in
//   bytes (varints), in order; then the columns themselves: those of `Column`, then one for each field of each payload,
//   in the order of AllPayloads and visit_fields() (cli/trace/payload.h). Numbers are varints; `zigzag` ones are
//   signed differences. A payload's column has an entry only for events with this payload:
//     number, string, id, hex   the value itself (signed ones zigzag, reals as their bits)
//     delta                     zigzag: minus the previous entry in the column (first: minus 0)
//   They are followed by a column for each slot of shapes (cli/trace/shapes.h), with the integers of this slot in the
//   order of events and holes, zigzag: minus the previous one in the column (first: minus 0); or, if the previous one
//   was the correlation of its own event (but not 0), minus the correlation of this event.
//
// The decoder does not trust the input: each column has to contain exactly one entry per event.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/ttrace/batch.h"
#include "cli/formats/ttrace/file.h"

namespace cli::ttrace {

enum class Column : std::uint32_t {
  start,        // zigzag: minus the start of the previous event (first: minus 0), ns
  duration,     // ns + 1; 0 if unknown
  correlation,  // zigzag: minus the last correlation in the same slot (track modulo kCorrelationSlots; first: minus 0)
  bytes,        // only for events with the flag kHasBytes
  track,
  name,
  category,
  kind,        // u8
  phase,       // u8
  flags,       // u8: EventFlag
  payload,     // u8: its tag; 0 if none
  args,        // 0: none; 1: the next of `text`; 2 + 2 n: the same as the nth of `text`; 3 + 2 n: shape n
  text_bytes,  // size of each argument text
  text,
  count_
};
// Their names, in the same order.
inline constexpr std::string_view kColumnNames[] = {"start",   "duration", "correlation", "bytes", "track",
                                                    "name",    "category", "kind",        "phase", "flags",
                                                    "payload", "args",     "text_bytes",  "text"};
inline constexpr std::size_t kCommonColumns = static_cast<std::size_t>(Column::count_);

// Counts the fields of a payload.
struct FieldCount {
  std::size_t fields = 0;
  template <typename T>
  constexpr void number(const char*, const T&, bool = true) {
    ++fields;
  }
  template <typename T>
  constexpr void delta(const char*, const T&, bool = true) {
    ++fields;
  }
  template <typename T>
  constexpr void hex(const char*, const T&, bool = true) {
    ++fields;
  }
  constexpr void string(const char*, StringId, bool = true) { ++fields; }
  template <typename T>
  constexpr void id(const char*, InternedId<T>, bool = true) {
    ++fields;
  }
};
template <typename P>
constexpr std::size_t fields_of() {
  FieldCount count;
  P payload{};
  visit_fields(count, payload);
  return count.fields;
}

// The first column of the payload with this tag; for kPayloads + 1, the end of the last one.
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

// Returns the columns of events except those of slots, in their order, then the fields of the lists of interned types.
std::vector<SchemaEntry> schema();

// Encodes the events batch[order[begin]] ... batch[order[end - 1]] in this order; if `order` is null, batch[begin], ...
void encode_events(const EventBatch& batch, const std::uint32_t* order, std::size_t begin, std::size_t end,
                   std::string& out);

// Decodes the events of a chunk, some at a time. Track, name, category and kind are the file's own numbers, which are
// not checked here.
class ColumnDecoder {
 public:
  // `shapes` has to outlive it.
  explicit ColumnDecoder(const ShapeTable& shapes);
  ~ColumnDecoder();
  ColumnDecoder(ColumnDecoder&&) noexcept;
  ColumnDecoder& operator=(ColumnDecoder&&) noexcept;

  // Opens a chunk of `count` events. `raw` has to live until all are taken. Returns a description of the error, or
  // nullptr.
  [[nodiscard]] const char* open(std::string_view raw, std::size_t count);
  // Replaces the content of `out` with the next events: at most `most` (> 0), fewer if they have `most_text` bytes of
  // text, none after the last one. Returns a description of the error, after which `out` is undefined, or nullptr.
  [[nodiscard]] const char* take(EventBatch& out, std::size_t most, std::size_t most_text = ~std::size_t{0});

 private:
  class Columns;
  std::unique_ptr<Columns> columns_;
  const ShapeTable* shapes_;
  std::size_t left_ = 0;  // events
};

// Decodes all events of a chunk.
[[nodiscard]] const char* decode_events(std::string_view raw, std::size_t count, const ShapeTable& shapes,
                                        EventBatch& out);

}  // namespace cli::ttrace
