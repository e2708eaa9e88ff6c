// Where to go on after damage. Quotes cannot be trusted there (one too many turns every string inside out), so events
// are found by how they stand in this file:
//
//   - what looks like `{"key":` after exactly the bytes that separate this file's events, if a line break is among
//     them: a string cannot hold one;
//   - else what is a whole JSON object with a "ph", and well followed;
//   - else, after a comma, an object that begins with a key of events, is broken itself and has a "ph" near.
//
// Never the value of a member or the first of an array, so that no piece of a broken event is taken for one. Time is
// linear in any text (json_effort.h); the window keeps kLookAhead at most.
#pragma once
#include <cstddef>
#include <string_view>

#include "cli/read/json_effort.h"
#include "cli/read/window.h"

namespace cli {

enum class Resumed { event, end_of_array, end_of_text };

// Moves `window` from the broken element at its begin to what follows its first `from` >= 1 bytes: a '{', a ']', or the
// end. `gap`: the bytes that stood between the last two sound events; "" when there were none.
Resumed resume_events(Window& window, std::size_t from, std::string_view gap, JsonEffort& effort);

// Moves `window` from within the top-level object, its first byte left out, to the quote of the next key that
// is known of traces ("traceEvents", "baseTimeNanoseconds", ...). False: there is none, the window is at the end.
bool resume_members(Window& window);

// The index of that quote in `text`; npos.
std::size_t find_known_member(std::string_view text);

}  // namespace cli
