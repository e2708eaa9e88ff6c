// Faults that writers of traces are known for, and the text that they meant. The event is kept; that it was mended is counted.
//
//   inf, -nan(ind), 0x262ca50    numbers as printf writes them      become strings
//   N/A, ncclFloat32             unquoted words in args            become strings
//   "C:\Users\x"                 backslashes that are not escaped   all of a string with an invalid escape stand for themselves
//   raw control characters, and bytes that are not UTF-8            become escapes, and characters of Latin-1
//   "say "x" (3)"                quotes that are not escaped        a quote ends a string only before what follows a string
//
// Nothing else is guessed, not even what a hole of zeros was: the mended text must be one sound JSON value.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cli {

struct MendedJson {
  std::string text;
  std::size_t at = 0;      // of the first fault in the original
  std::string_view fault;  // "a quote in a string is not escaped"
};

// `event`: the text of one event that find_json_fault() refuses. nullopt: it has other faults.
std::optional<MendedJson> mend_event(std::string_view event);

}  // namespace cli
