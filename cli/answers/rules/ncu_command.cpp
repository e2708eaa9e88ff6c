#include "cli/answers/rules/ncu_command.h"

#include <fmt/format.h>

#include "cli/base/shell_word.h"
#include "cli/trace/short_name.h"

namespace cli {

std::string function_name(std::string_view kernel) {
  std::string name = short_name(kernel);
  return name.substr(0, name.find_first_of("<( "));
}

// --launch-skip counts launches of kernels that match alone. `$`: names of generated kernels begin with those of others.
std::string ncu_command(std::string_view kernel, std::int64_t skip, const std::string& program) {
  std::string pattern = "regex:^";
  for (const char c : function_name(kernel)) pattern += std::string(std::string_view(".[]{}()*+?^$|\\").find(c) != std::string_view::npos ? "\\" : "") + c;
  return fmt::format("ncu --kernel-name {} --launch-skip {} --launch-count 5 --set full --target-processes all {}", shell_word(pattern + "$"), skip,
                     program.empty() ? "YOUR_PROGRAM" : shell_word(program) + " ARGUMENTS");
}

}  // namespace cli
