// How the agent gets into a program: the agent's file, the environment variables, and a directory for recordings.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/doctor/checks.h"

namespace cli::doctor {

// Which environment variables put the agent into a program, and who is in the way.

// Where libagent.so lies, and whether it can be injected on this machine.

// $TRACETOOL_AGENT where it is set, else the first that exists: beside this program, ../lib and its machine's directory
// below, ../lib64 (tracetool/ in each), ../agent (a build directory). Absolute. Returns "" if there is none; `searched` lists the directories.
std::string find_agent(std::string& searched);

// Why the file is not an agent for this machine; "" when it is one: an ELF file of this machine with our entry points.
std::string wrong_with_agent(const std::string& path);

// The environment, as far as it is asked; nullptr: not set.
using GetVariable = std::function<const char*(const char*)>;

struct InjectionOptions {
  std::string agent;   // absolute path
  std::string directory;  // of the recordings; made absolute here. "": $TRACETOOL_DIR, else ./traces
  bool preload = false;
  bool force = false;                                         // take variables that another tool holds
  std::vector<std::pair<std::string, std::string>> settings;  // TRACETOOL_..., value
};

struct Injection {
  std::vector<std::pair<std::string, std::string>> variables;  // to set
  std::string refused;  // why it must not be done: another tool is to be injected; "": go on
  std::string warning;  // what will be missing; "": nothing
};

Injection plan_injection(const InjectionOptions& options, const GetVariable& variable);

// A directory for recordings: can it be written, on what does it lie, is there room?
struct OutputDirectory {
  std::string existing;        // the directory itself, or the nearest above it that exists
  bool is_directory = false;   // `existing` is a directory
  bool writable = false;       // for this user
  std::string filesystem;      // "ext4", "NFS", or its number
  bool maps_in_place = false;  // the ring can lie there itself (recording.md section 1)
  std::uint64_t free_bytes = 0;
  bool takes_files = true;  // there is a free inode
};

OutputDirectory look_at(const std::string& directory);

// Returns the size limit of files for processes that are started from here (`ulimit -f`).
std::uint64_t file_size_limit();

// "256M" -> bytes, as the agent reads TRACETOOL_BUFFER; 256 MiB where it is not set or wrong.
std::uint64_t ring_bytes_wanted();

// The directory can be written, its filesystem, room for one more ring. For a directory that is to be recorded into.
CheckResults check_output_directory(const std::string& directory, std::uint64_t ring_bytes);

// Of a directory that holds recordings already: nothing of it fails. `is_live`: processes record into it, and more may
// begin to; their rings took their room when they began.
CheckResults check_used_directory(const std::string& directory, std::uint64_t ring_bytes, bool is_live);

}  // namespace cli::doctor
