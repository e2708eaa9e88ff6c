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
