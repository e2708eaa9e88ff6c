// The record format: every byte that the agent writes and tracetool reads, defined once. common/FORMAT.md describes it
// for readers in other languages. Its tables are generated from these headers, and a test compiles them back.
//
// Framing. A record starts at a multiple of 8 bytes with `kind` and `size_words`. Its size is size_words * 8, or, if
// size_words is 0, the u32 at byte 4 (a multiple of 8, at least 8). A reader skips unknown kinds by their size. All
// numbers are little-endian. Evolution: fields are only appended, kinds are never reused.
//
// Times. `_cupti_ns` is CUPTI's clock, `_mono_ns` is CLOCK_MONOTONIC. The clock samples in every block header convert
// either to the wall clock.
//
// References. A u32 `..._ref` refers to a definition (kinds 1 to 15). Top bit clear: ref * 8 is a byte offset in the
// file's definitions region. Top bit set: the other bits * 8 are a byte offset in the payload of the record's own
// block, before the record. kNoRef is "none". A definition that is used once is thus overwritten with its block, and a
// full region costs bytes but never a name. A stack's bytes are references to frames; local ones refer to the block of
// the record that refers to the stack.
//
// A new kind is a struct in the file of its family and its name in AllRecords. CUPTI's records are converted by a
// function and a row in agent/translate, and become events by a function in cli/formats/ring/*_events.cpp. Then
// run scripts/format_tables.py. CONTRIBUTING.md lists the other places.
#pragma once
#include <tuple>
#include <type_traits>

#include "common/records/record_kind.h"
#include "common/records/definition_records.h"
#include "common/records/device_work.h"
#include "common/records/host_calls.h"
#include "common/records/ranges.h"
#include "common/records/operators.h"
#include "common/records/stacks.h"
#include "common/records/recording_records.h"

namespace trace {

using AllRecords =
    std::tuple<StringRecord, LaunchShapeRecord, ApiNameRecord, ThreadNameRecord, IdentityRecord, DeviceRecord,
               ContextRecord, StreamRecord, ResourceNameRecord, NvtxCategoryRecord, CommunicatorRecord, GraphNodeRecord,
               KernelRecord, KernelWideRecord, MemcpyRecord, MemcpyPeerRecord, MemsetRecord, RuntimeRecord,
               DriverRecord, RuntimeWideRecord, DriverWideRecord, NvtxPushRecord, NvtxPopRecord, NvtxStartRecord,
               NvtxEndRecord, NvtxMarkRecord, NcclCallRecord, ClockRecord, SyncRecord, OverheadRecord,
               GraphLaunchRecord, MemoryRecord, MemoryPoolRecord, NoticeRecord, CudaEventRecord,
               OperatorBeginRecord, OperatorEndRecord, FrameRecord, ModuleNameRecord, ObjectRecord, StackRecord,
               GarbageCollectionRecord, AllocatorRecord>;

// Calls f(static_cast<Record*>(nullptr)) for each kind of record, in the order of AllRecords.
template <typename F>
constexpr void for_each_record(F&& f) {
  [&]<typename... R>(std::tuple<R...>*) { (f(static_cast<R*>(nullptr)), ...); }(static_cast<AllRecords*>(nullptr));
}

template <typename R>
inline constexpr bool is_listed = [] {
  bool found = false;
  for_each_record([&]<typename Listed>(Listed*) { found = found || std::is_same_v<R, Listed>; });
  return found;
}();

template <typename R>
constexpr std::uint8_t size_words_of() {
  return std::is_same_v<R, StringRecord> ? 0 : static_cast<std::uint8_t>(sizeof(R) / 8);
}

// Returns a zeroed record with its head filled in.
template <typename R>
constexpr R make_record() {
  static_assert(sizeof(R) % 8 == 0 && sizeof(R) / 8 < 256);
  R record{};
  record.kind = static_cast<std::uint8_t>(R::kKind);
  record.size_words = size_words_of<R>();
  return record;
}

// Returns the name of a kind, or "unknown".
inline std::string_view record_name(std::uint8_t kind) {
  std::string_view name = "unknown";
  for_each_record([&]<typename R>(R*) {
    if (static_cast<std::uint8_t>(R::kKind) == kind) name = R::kName;
  });
  return name;
}

// Returns true for kinds that only the agent's own thread writes (kByAgent).
constexpr bool is_by_agent(std::uint8_t kind) {
  bool found = false;
  for_each_record([&]<typename R>(R*) {
    if constexpr (requires { R::kByAgent; }) found = found || static_cast<std::uint8_t>(R::kKind) == kind;
  });
  return found;
}

static_assert(sizeof(KernelRecord) == 32 && sizeof(RuntimeRecord) == 24, "the budgets of bytes per record");
static_assert(sizeof(StringRecord) == 16 && sizeof(LaunchShapeRecord) == 64);

}  // namespace trace
