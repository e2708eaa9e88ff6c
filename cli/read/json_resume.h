// Where to go on after damage. Quotes cannot be trusted there (one too many turns every string inside out), so events
// are found by how they stand in this file:
//
//   - what looks like `{"key":` after exactly the bytes that separate this file's events, if a line break is among
//     them: a string cannot hold one;
//   - else what is a whole JSON object with a "ph", and well followed;
//   - else, after a comma, an object that begins with a key of events, is broken itself and has a "ph" near.
//
// Never the value of a member or the first of an array, so that no piece of a broken event is taken for one. Each byte
// is looked at a bounded number of times: linear in any text; the window keeps kLookAhead at most.
#pragma once
#include <cstddef>
#include <string_view>

#include "cli/read/window.h"

namespace cli {

enum class Resumed { event, end_of_array, end_of_text };

// Moves `window` from the broken element at its begin to what follows: a '{', a ']', or the end. `gap`: the bytes that
// stood between the last two sound events; "" when there were none.
// An event that may begin there is looked at for `look` <= kLookAhead bytes.
inline constexpr std::size_t kLookAhead = 64 << 10;
Resumed resume_events(Window& window, std::string_view gap, std::size_t look);

// Moves `window` from within the top-level object, its first byte left out, to the quote of the next key that
// is known of traces ("traceEvents", "baseTimeNanoseconds", ...). False: there is none, the window is at the end.
bool resume_members(Window& window);

// The index of that quote in `text`; npos.
std::size_t find_known_member(std::string_view text);

// A member by which traces are known.
bool is_known_member(std::string_view key);

// Sound JSON with a phase of one letter; anything may stand behind `text`.
bool is_whole_event(std::string_view text);

// What follows an event of `size` bytes at the begin of `text`, or the bracket there.
enum class Follow { well, badly, unknown };  // unknown: the text ends too early to say
Follow follow_of_event(std::string_view text, std::size_t size, std::string_view gap);
Follow follow_of_array(std::string_view text);

// `text` begins where an event or ']' should: well when it is a member of the top-level object instead, or its end.
Follow follow_of_lost_bracket(std::string_view text);

}  // namespace cli
