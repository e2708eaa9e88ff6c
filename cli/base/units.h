// Amounts as people read them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

std::string duration_text(std::int64_t ns);   // "3.2 days", "19.4 h", "1.234 s", "56.70 ms", "890 ns": four digits
std::string bytes_text(std::uint64_t bytes);  // "1.5 GiB"
std::string time_text(std::int64_t ns);       // since 1970: "2026-11-21 23:19:02 UTC"
std::string count_text(std::uint64_t count, std::string_view singular, std::string_view plural = "");  // "1 process"

}  // namespace cli
