// A process as /proc shows it.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cli::doctor {

struct ProcessView {
  bool exists = false;
  std::string name;                              // /proc/PID/comm
  std::string directory;                            // where it runs; "" unknown
  std::map<std::string, std::string> variables;  // as it was started: setenv(3) is not seen
  std::vector<std::string> files;                // mapped, each once
  std::string environ_error, maps_error;         // why these could not be read; "" when they could
};

ProcessView view_process(int pid);

// "A=1\0B=2\0" -> variables.
std::map<std::string, std::string> parse_environ(std::string_view bytes);
// /proc/PID/maps -> the paths in it, each once, in their order.
std::vector<std::string> parse_maps(std::string_view text);

// The paths whose file name begins like this: "libcupti.so".
std::vector<std::string> files_named(const ProcessView& process, std::string_view beginning);

}  // namespace cli::doctor
