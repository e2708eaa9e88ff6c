// The only exception of the command line. main() catches it, prints `tracetool: MESSAGE` and returns the exit code. The
// message contains the file, the byte offset or event, what was expected and what to do next.
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace cli {

enum class Exit : int { done = 0, usage = 1, cannot_open = 2, bad_content = 3, gate_failed = 4, not_judged = 5 };

class Error : public std::runtime_error {
 public:
  Error(Exit exit, const std::string& message) : std::runtime_error(message), exit_(exit) {}
  template <typename First, typename... More>
  Error(Exit exit, fmt::format_string<First, More...> form, First&& first, More&&... more)
      : Error(exit, fmt::format(form, std::forward<First>(first), std::forward<More>(more)...)) {}
  Exit exit() const { return exit_; }

 private:
  Exit exit_;
};

}  // namespace cli
