// What a file is that tracetool does not read, by its first bytes, and the next step.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace cli {

inline constexpr std::size_t kForeignBytes = 512;  // that are looked at; enough for a tar archive

// "a zip archive; unpack it and name the traces in it"; "" if it is not known.
std::string_view foreign_file(std::string_view first_bytes);

// The same for JSON without trace events, by the keys of its top-level object.
std::string_view foreign_json(std::string_view key);

}  // namespace cli
