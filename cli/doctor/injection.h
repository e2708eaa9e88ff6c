// Injection of the agent: the agent's file, the environment variables, and the directory of the recordings.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/doctor/checks.h"

namespace cli::doctor {

// The agent's file, the environment variables that inject the agent, and conflicts with other tools.

// Returns $TRACETOOL_AGENT if set, else the first existing file of: next to this program, ../lib and its multiarch
// directory, ../lib64 (each also with tracetool/), ../agent (a build directory). The path is absolute. Returns "" if
// there is none; `searched` lists the directories.
std::string find_agent(std::string& searched);

// Returns why the file is not an agent for this machine. "" if it is one: an ELF file for this machine with the agent's
// entry points.
std::string wrong_with_agent(const std::string& path);

// Reads an environment variable; nullptr if it is not set.
using GetVariable = std::function<const char*(const char*)>;

struct InjectionOptions {
  std::string agent;      // absolute path
  std::string directory;  // of the recordings; made absolute here. "" for $TRACETOOL_DIR, else ./traces
  bool preload = false;
  bool force = false;                                         // override variables that another tool uses
  std::vector<std::pair<std::string, std::string>> settings;  // TRACETOOL_..., value
};

struct Injection {
  std::vector<std::pair<std::string, std::string>> variables;  // variables to set
  std::string refused;  // why injection is refused (another tool would be replaced); "" to continue
  std::string warning;  // what will be missing; "" if nothing
};

Injection plan_injection(const InjectionOptions& options, const GetVariable& variable);

// A directory for recordings: access, filesystem and free space.
struct OutputDirectory {
  std::string existing;        // the directory itself or its nearest existing parent
  bool is_directory = false;   // `existing` is a directory
  bool writable = false;       // by this user
  std::string filesystem;      // "ext4", "NFS", or its numeric type
  bool maps_in_place = false;  // the ring can be in this directory itself (recording.md section 1)
  std::uint64_t free_bytes = 0;
  bool takes_files = true;  // inodes are available
};

OutputDirectory look_at(const std::string& directory);

// Returns the file size limit for processes started from here (`ulimit -f`).
std::uint64_t file_size_limit();

// Parses TRACETOOL_BUFFER ("256M") as the agent does, in bytes; 256 MiB if it is not set or invalid.
std::uint64_t ring_bytes_wanted();

// Checks a directory for a new recording: access, filesystem, and free space for one more ring.
CheckResults check_output_directory(const std::string& directory, std::uint64_t ring_bytes);

// Checks a directory that already contains recordings; no check fails. `is_live` means that processes record into it
// and more may start. Rings allocate their space when they start.
CheckResults check_used_directory(const std::string& directory, std::uint64_t ring_bytes, bool is_live);

}  // namespace cli::doctor
