// The fields of a record as text, by the names of common/records: "correlation=7 name_ref=@40".
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cli {

// "" for a kind that we do not know.
std::string show_record(const std::vector<std::byte>& bytes, std::size_t at, std::uint8_t kind, std::size_t size);

}  // namespace cli
