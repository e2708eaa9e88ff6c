// What a picture shows besides the events: rows that are computed from them (cli/overlay). One row of kDerivedRows
// each; a new one is one line here and its computation.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/model/event.h"
#include "cli/model/recording.h"

namespace cli {

enum class DerivedRow : std::uint8_t {
  idle,
  exposed_comm,
  lost,
  queue_length,
  copy_h2d,
  copy_d2h,
  copy_d2d,
  copy_peer,
  busy,
  comm_in_flight,
  allocated,
  reserved,
  count_
};

struct DerivedRowInfo {
  std::string_view name;  // of the row or counter
  bool counter;           // values over time; else slices
  std::string_view unit;  // of a counter's values
};

inline constexpr std::array<DerivedRowInfo, static_cast<std::size_t>(DerivedRow::count_)> kDerivedRows{{
    {"idle", false, ""},
    {"exposed communication", false, ""},
    {"lost events", false, ""},
    {"launch queue", true, "launches"},
    {"copies HtoD", true, "GB/s"},
    {"copies DtoH", true, "GB/s"},
    {"copies DtoD", true, "GB/s"},
    {"copies PtoP", true, "GB/s"},
    {"device busy", true, "%"},
    {"communication in flight", true, "collectives"},
    {"memory allocated", true, "bytes"},
    {"memory reserved", true, "bytes"},
}};

constexpr const DerivedRowInfo& row(DerivedRow which) { return kDerivedRows[static_cast<std::size_t>(which)]; }

enum class Loss : std::uint8_t { none, overwritten, unrecorded, everything, gap };

// What a slice says besides its time, of which less may be drawn. Exporters make words of it (export/derived_text.h).
struct DerivedFacts {
  std::int64_t length_ns = -1;  // -1: unknown
  std::uint64_t short_gaps = 0;  // of idle: gaps too short to be drawn since the one before, and their sum
  std::int64_t short_gaps_ns = 0;
  Loss loss = Loss::none;
  const Notice* gap = nullptr;      // of the catalogue
  std::int64_t gap_seen_ns = 0;     // how much of it lies before the last event
};

// A slice, or a counter's value from `start_ns` until the next one of its row.
struct Derived {
  ProcessId process = 0;
  DerivedRow row = DerivedRow::idle;
  std::int64_t device = -1;  // as the process numbers it; -1: of the whole process
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  // >= 0; 0 for counters
  double value = 0;              // of a counter
  DerivedFacts facts = {};       // of a slice
};

// Rows (process, row, device) each come in the order of time; among each other, and beside the events, in none.
class DerivedSink {
 public:
  virtual ~DerivedSink() = default;
  virtual void derived(const Derived& derived) = 0;
};

}  // namespace cli
