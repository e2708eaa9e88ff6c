// The note of a table about ranges and calls without an end. They were never popped, or were open when the program ended.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/units.h"

namespace cli {

inline void append_endless_note(std::vector<std::string>& notes, std::uint64_t count, std::string_view one) {
  if (count > 0) notes.push_back(count_text(count, one) + " had not ended when the trace ended; their host time is unknown");
}

}  // namespace cli
