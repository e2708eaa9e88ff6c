// The wall clock.
#pragma once
#include <chrono>
#include <cstdint>

namespace cli {

// ns since 1970.
inline std::int64_t wall_clock_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace cli
