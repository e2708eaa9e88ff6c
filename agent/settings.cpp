#include "agent/settings.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/message.h"

namespace agent {
namespace {

constexpr std::uint64_t kMinRing = 64ull << 10;
constexpr std::uint64_t kMaxRing = 1ull << 40;
constinit Settings s_settings;

bool parse_number(const char* text, std::uint64_t& value, const char*& rest) {
  const auto result = std::from_chars(text, text + std::strlen(text), value);
  rest = result.ptr;
  return result.ec == std::errc();
}

// A copy: programs that write their title overwrite the memory of their environment.
template <std::size_t Size>
bool copy_text(char (&to)[Size], const char* value) {
  const int length = snprintf(to, Size, "%s", value);
  return length > 0 && static_cast<std::size_t>(length) < Size;
}

bool set_dir(Settings& settings, const char* value) { return copy_text(settings.dir, value); }

// By where the process is now: programs change to other folders before they use the GPU for the first time.
void make_dir_absolute(Settings& settings) {
  static constinit char path[2 * PATH_MAX];
  if (settings.dir[0] == '/' || getcwd(path, PATH_MAX) == nullptr) return;
  const char* below = std::strncmp(settings.dir, "./", 2) == 0 ? settings.dir + 2 : settings.dir;
  const std::size_t here = std::strlen(path);
  snprintf(path + here, sizeof(path) - here, "/%s", below);
  if (std::strlen(path) < sizeof(settings.dir)) copy_text(settings.dir, path);
}

bool set_buffer(Settings& settings, const char* value) {
  std::uint64_t bytes;
  if (!parse_bytes(value, bytes) || bytes < kMinRing || bytes > kMaxRing) return false;
  settings.ring_bytes = bytes;
  return true;
}

bool set_flush(Settings& settings, const char* value) {
  std::uint64_t ms;
  const char* rest;
  if (!parse_number(value, ms, rest) || *rest != '\0' || ms < 1 || ms > 60'000) return false;
  settings.flush_ms = ms;
  return true;
}

bool set_cupti(Settings& settings, const char* value) { return copy_text(settings.cupti, value); }

bool set_events(Settings& settings, const char* value) { return parse_events(value, settings.events); }

bool set_nccl(Settings& settings, const char* value) {
  constexpr const char* kValues[] = {"auto", "payload", "interpose"};
  for (std::size_t i = 0; i < 3; ++i) {
    if (std::strcmp(value, kValues[i]) != 0) continue;
    settings.nccl = static_cast<NcclCapture>(i);
    return true;
  }
  return false;
}

bool set_mode(Settings& settings, const char* value) {
  settings.spool = std::strcmp(value, "spool") == 0;
  return settings.spool || std::strcmp(value, "ring") == 0;
}

bool set_keep(Settings& settings, const char* value) {
  const char* rest;
  return parse_number(value, settings.keep_runs, rest) && *rest == '\0';
}

bool set_max_disk(Settings& settings, const char* value) { return parse_bytes(value, settings.max_disk_bytes); }

bool is_switch(const char* value) { return std::strcmp(value, "0") == 0 || std::strcmp(value, "1") == 0; }

bool set_verbose(Settings& settings, const char* value) {
  settings.verbose = value[0] == '1';
  return is_switch(value);
}

bool set_coexist(Settings& settings, const char* value) {
  settings.retake = std::strcmp(value, "retake") == 0;
  return settings.retake || std::strcmp(value, "yield") == 0;
}

bool set_guard_cpu(Settings& settings, const char* value) {
  const char* rest;
  return parse_number(value, settings.guard_cpu_pct, rest) && *rest == '\0' && settings.guard_cpu_pct <= 100;
}

bool set_guard_rate(Settings& settings, const char* value) {
  const char* rest;
  return parse_number(value, settings.guard_rate, rest) && *rest == '\0';
}

// Read apart, before anything else happens: disabled_by_user(). Whoever sets it to anything wants us off.
bool set_disable(Settings&, const char*) { return true; }

// Which word it is, where it is one of several.
void say_refused(const SettingRow& row, const char* value) {
  const std::string_view word = row.set == set_events ? unknown_word(value) : std::string_view();
  const bool named = !word.empty();
  say("%s=%s is not a value for it%s%.*s (%s); using %s", row.name, value, named ? ", for its word " : "",
      static_cast<int>(word.size()), word.data(), row.help, row.fallback);
}

}  // namespace

const SettingRow kSettings[] = {
    {"TRACETOOL_DIR", "./traces", "folder of the recordings; each run gets a folder of its own in it", set_dir},
    {"TRACETOOL_BUFFER", "256M", "size of the ring per process: 64K to 1024G; the newest records are kept", set_buffer},
    {"TRACETOOL_MODE", "ring", "ring: the newest records; spool: all of them, compressed to a growing file beside the ring", set_mode},
    {"TRACETOOL_KEEP", "4", "runs that stay in the folder, with this one; what older ones left is removed; 0: all", set_keep},
    {"TRACETOOL_MAX_DISK", "32G", "beyond it older runs are removed; the spool of each process ends at it; 0: any size", set_max_disk},
    {"TRACETOOL_FLUSH_MS", "200", "how often the agent collects from CUPTI, in ms: 1 to 60000", set_flush},
    {"TRACETOOL_CUPTI", "found", "path of the libcupti to use instead of the one that is found", set_cupti},
    {"TRACETOOL_COEXIST", "yield", "when another user of CUPTI in the process takes its buffers: yield, or retake them", set_coexist},
    {"TRACETOOL_GUARD_CPU", "3", "percent of a core that the agent may take over 10 s before it steps down to light; 0: any", set_guard_cpu},
    {"TRACETOOL_GUARD_RATE", "500000", "records per second over 10 s before it steps down to light; 0: any", set_guard_rate},
    {"TRACETOOL_EVENTS", "default",
     "what is recorded: light, default, all, or kinds joined by commas, with + and - to change a set "
     "(default,-overhead,+memory): kernel, memcpy, memcpy_peer, memset, graph_node, graph_launch (whole graphs instead "
     "of their nodes), runtime, driver, sync, overhead, memory, memory_pool, device, context, stream, nvtx, nccl",
     set_events},
    {"TRACETOOL_NCCL", "auto", "where NCCL's calls come from: payload (its NVTX ranges), interpose (its functions too; needs LD_PRELOAD), or auto: interpose before NCCL 2.25", set_nccl},
    {"TRACETOOL_VERBOSE", "0", "1: say on stderr what was found and where the recording goes", set_verbose},
    {"TRACETOOL_DISABLE", "0", "1, or anything but 0: the agent does nothing at all", set_disable},
    {nullptr, nullptr, nullptr, nullptr},
};

bool parse_bytes(const char* text, std::uint64_t& bytes) noexcept {
  std::uint64_t value;
  const char* rest;
  if (!parse_number(text, value, rest)) return false;
  int shift = 0;
  switch (*rest) {
    case 'K': case 'k': shift = 10; break;
    case 'M': case 'm': shift = 20; break;
    case 'G': case 'g': shift = 30; break;
    case '\0': break;
    default: return false;
  }
  if (shift != 0 && rest[1] != '\0') return false;
  if (value > UINT64_MAX >> shift) return false;
  bytes = value << shift;
  return true;
}

void read_settings() noexcept {
  static constinit Settings s_before;
  for (const SettingRow* row = kSettings; row->name != nullptr; ++row) {
    const char* value = std::getenv(row->name);
    if (value == nullptr) continue;
    s_before = s_settings;
    if (row->set(s_settings, value)) continue;
    s_settings = s_before;
    say_refused(*row, value);
  }
  make_dir_absolute(s_settings);
}

const Settings& settings() noexcept { return s_settings; }

bool disabled_by_user() noexcept {
  const char* value = std::getenv("TRACETOOL_DISABLE");
  return value != nullptr && value[0] != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace agent
