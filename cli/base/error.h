// The one exception of the command line: caught once, in main, printed as `tracetool: MESSAGE`, and turned into the
// exit code. A message names the file, the byte offset or event, what was expected and what to do next.
#pragma once
#include <stdexcept>
#include <string>

namespace cli {

enum class Exit : int { done = 0, usage = 1, cannot_open = 2, bad_content = 3, gate_failed = 4, not_judged = 5 };

class Error : public std::runtime_error {
 public:
  Error(Exit exit, const std::string& message) : std::runtime_error(message), exit_(exit) {}
  Exit exit() const { return exit_; }

 private:
  Exit exit_;
};

}  // namespace cli
