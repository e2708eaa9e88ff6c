// The records as the newest struct of the simulated version has them. Older versions are prefixes of newer ones.
#pragma once
#include <cstddef>

#include "exports.h"

namespace sim {

inline constexpr std::size_t kMaxRecord = 256;
// A kind that no header has.
inline constexpr auto kUnknownKind = static_cast<CUpti_ActivityKind>(9'000);

// 0: no record of this library has the kind.
std::size_t record_size(CUpti_ActivityKind kind);
CUpti_ActivityKind kind_of(const DeviceEvent& event);
CUpti_ActivityKind kind_of(const CallEvent& event);
CUpti_ActivityKind kind_of(const Note& note);
std::size_t note_record_size(CUpti_ActivityKind kind);

// `incomplete`: as a forced flush returns it, with end = 0.
void fill_record(std::byte* at, const DeviceEvent& event, bool incomplete);
void fill_record(std::byte* at, const CallEvent& event);
void fill_record(std::byte* at, const Note& note);
void fill_graph(std::byte* at, const DeviceEvent& event, bool incomplete);

}  // namespace sim
