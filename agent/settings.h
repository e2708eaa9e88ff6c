// What the user can set: environment variables, read once when recording starts. The table in settings.cpp is the
// only list; the README's table is checked against it. A bad value is one line on stderr and the default.
#pragma once
#include <limits.h>

#include <cstddef>
#include <cstdint>

#include "agent/event_choice.h"

namespace agent {

// Where NCCL's calls are taken from: its NVTX payloads, also its functions, or also those where the payloads do not say
// which communicator it is.
enum class NcclCapture : std::uint8_t { automatic, payload, interpose };

struct Settings {
  char dir[PATH_MAX] = "./traces";  // absolute once it is read
  std::uint64_t ring_bytes = 256ull << 20;
  std::uint64_t flush_ms = 200;
  char cupti[PATH_MAX] = "";        // path of the libcupti to load; empty: find one
  EventSet events = kDefaultEvents;
  NcclCapture nccl = NcclCapture::automatic;
  bool spool = false;  // TRACETOOL_MODE
  std::uint64_t keep_runs = 4;  // 0: all
  // 0: any. Four runs of eight ranks with their default rings are 8 GB; what spools leave may be four times that.
  std::uint64_t max_disk_bytes = 32ull << 30;
  bool verbose = false;
  bool retake = false;  // take CUPTI's buffers back from another user in this process
  std::uint64_t guard_cpu_pct = 3;  // 0: no limit
  std::uint64_t guard_rate = 500'000;  // records per second; 0: no limit
};

struct SettingRow {
  const char* name;
  const char* fallback;  // as a user would write it
  const char* help;
  bool (*set)(Settings&, const char* value);  // false: not a value of this variable
};

// The rows, ended by one with a null name.
extern const SettingRow kSettings[];

// Once, by one thread: its room is not on the stack, which may be of a thread that has next to none.
void read_settings() noexcept;
const Settings& settings() noexcept;
// TRACETOOL_DISABLE is set to anything but 0 or "".
bool disabled_by_user() noexcept;
// "64M", "1G", "4096K", "1048576": bytes. False where it is none of that.
bool parse_bytes(const char* text, std::uint64_t& bytes) noexcept;

}  // namespace agent
