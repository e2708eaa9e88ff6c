// Tests that try every byte or length of something try each nth one where compilers that do not optimise, or sanitizers,
// would take minutes for all (TRACETOOL_CASE_STEP, which meson.build sets); without it, all.
#pragma once
#include <cstddef>
#include <cstdlib>

inline std::size_t case_step() {
  static const std::size_t step = [] {
    const char* text = std::getenv("TRACETOOL_CASE_STEP");
    const long value = text != nullptr ? std::strtol(text, nullptr, 10) : 1;
    return value > 0 ? static_cast<std::size_t>(value) : std::size_t{1};
  }();
  return step;
}

// Returns how many of `all` repetitions to make: an eighth where case_step() is larger than that, and at least one.
inline std::size_t few(std::size_t all) {
  const std::size_t step = case_step() < 8 ? case_step() : 8;
  return all / step > 0 ? all / step : 1;
}
