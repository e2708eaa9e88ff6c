// Finds where a JSON value ends without parsing it: brackets are counted outside strings, 64 bytes at a time. What
// lies between is not checked; that is the parser's work. A backslash hides a quote wherever it stands, which matters
// only in text that the parser refuses.
#pragma once

namespace cli {

// `begin` is at a '{' or '['. Returns the byte after the bracket that closes it, or nullptr when that is not before
// `end`. The 64 bytes from `end` on must be readable.
const char* find_close(const char* begin, const char* end);

// `begin` is after the opening quote of a string. Returns its closing quote, or nullptr when that is not before `end`.
const char* find_quote(const char* begin, const char* end);

}  // namespace cli
