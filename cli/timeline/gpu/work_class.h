// What work of a GPU is for.
#pragma once
#include <cstdint>

namespace cli {

enum class WorkClass : std::uint8_t { compute, comm, memory };

}  // namespace cli
