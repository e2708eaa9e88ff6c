// Finds the end of a JSON value without parsing it: brackets outside of strings are counted, 64 bytes at a time. The
// content is not checked; the parser does that. A backslash escapes a quote anywhere, which matters only in text that
// the parser refuses.
#pragma once

namespace cli {

// `begin` is at a '{' or '['. Returns the byte after the closing bracket, or nullptr if it is not before `end`. The 64
// bytes from `end` on have to be readable.
const char* find_close(const char* begin, const char* end);

// `begin` is after the opening quote of a string. Returns its closing quote, or nullptr if it is not before `end`.
const char* find_quote(const char* begin, const char* end);

}  // namespace cli
