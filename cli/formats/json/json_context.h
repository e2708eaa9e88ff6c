// What stands around a place in JSON text of which quotes and brackets cannot be trusted.
#pragma once
#include <cstddef>
#include <string_view>

namespace cli {

inline constexpr std::size_t kLookBehind = 128;  // bytes kept before a place, for what separates it

// The first index from `at` on that is no space; the text's size.
std::size_t after_space(std::string_view text, std::size_t at);

// The last character before `at` that is no space, within kLookBehind; '\0' when there is none.
char before(std::string_view text, std::size_t at);

// The '{' at `at` is the value of a member or the first of an array.
bool is_inside(std::string_view text, std::size_t at);

// `"key" :` at `at`: the key; "" for anything else, and for a key with escapes or of more than 64 bytes.
std::string_view key_at(std::string_view text, std::size_t at);

bool is_event_key(std::string_view key);     // of those that trace events have
bool is_known_member(std::string_view key);  // by which traces are known, of the top-level object

}  // namespace cli
