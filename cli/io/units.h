// Amounts as people read them.
#pragma once
#include <cstdint>
#include <string>

namespace cli {

std::string duration_text(std::int64_t ns);   // "1.234 s", "56.700 ms", "890 ns"
std::string bytes_text(std::uint64_t bytes);  // "1.5 GiB"

}  // namespace cli
