// Whether what stands behind an element or a bracket belongs there. Where it does not, a quote or bracket too many
// ended that element too early, and the damage is in it; else the damage is in what follows.
#pragma once
#include <cstddef>
#include <string_view>

#include "cli/read/json_effort.h"

namespace cli {

inline constexpr std::size_t kLookAhead = 64 << 10;  // bytes that are looked at, at most

enum class Follow { well, badly, unknown };  // unknown: the text ends too early to say

// What follows an event of `size` bytes at the begin of `text`. `gap`: the bytes that stood between the last two sound
// events; "" when there were none.
Follow follow_of_event(std::string_view text, std::size_t size, std::string_view gap, JsonEffort& effort);

// What follows the ']' at the begin of `text`.
Follow follow_of_array(std::string_view text);

// `text` begins where an event or ']' should: well when it is a member of the top-level object instead, or its end.
Follow follow_of_lost_bracket(std::string_view text);

// Sound JSON with a phase of one letter.
bool is_whole_event(std::string_view text);

}  // namespace cli
