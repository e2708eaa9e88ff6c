// The fields of a record that are worth a column, as text; references and numbers are shown as they stand.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cli {

// "" for a kind that we do not know.
std::string show_record(const std::vector<std::byte>& bytes, std::size_t at, std::uint8_t kind, std::size_t size);

}  // namespace cli
