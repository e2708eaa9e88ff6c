// A process as seen in /proc.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cli::doctor {

struct ProcessView {
  bool exists = false;
  std::string name;                              // /proc/PID/comm
  std::string directory;                         // working directory; "" if unknown
  std::map<std::string, std::string> variables;  // at process start; later setenv(3) calls are not visible
  std::vector<std::string> files;                // mapped files, each once
  std::string environ_error, maps_error;         // why these could not be read; "" if they were
};

ProcessView view_process(int pid);

// Parses "A=1\0B=2\0".
std::map<std::string, std::string> parse_environ(std::string_view bytes);
// Returns the paths in /proc/PID/maps, each once, in order.
std::vector<std::string> parse_maps(std::string_view text);

// Returns the paths whose file name begins with `beginning`, for example "libcupti.so".
std::vector<std::string> files_named(const ProcessView& process, std::string_view beginning);

}  // namespace cli::doctor
