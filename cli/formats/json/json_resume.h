// Where to go on after damage. Quotes and brackets cannot be trusted there (one quote too many turns every string inside
// out), so the next event is what looks like `{"key":`
//
//   - after exactly the bytes that separate this file's events, if a line break is among them: a string cannot hold one;
//   - or after a comma, with a key of those that events have.
#pragma once
#include <cstddef>
#include <string_view>

#include "cli/formats/json/window.h"

namespace cli {

// Moves `window` from the broken element at its begin to what follows its first byte: the '{' of an event, the ']' of the
// array, or the end. `gap`: the bytes that stood between the last two sound events; "" when there were none.
void resume_events(Window& window, std::string_view gap);

// Moves `window` from within the top-level object, its first byte left out, to the quote of the next key that
// is known of traces ("traceEvents", "baseTimeNanoseconds", ...). False: there is none, the window is at the end.
bool resume_members(Window& window);

// The index of that quote in `text`; npos.
std::size_t find_known_member(std::string_view text);

}  // namespace cli
