// Settings of the user: environment variables that the agent reads and `tracetool record` checks. docs/settings.md is made from
// the table here.
#pragma once
#include <limits.h>
#include <strings.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "common/event_choice.h"

namespace trace {

// Source of NCCL calls: NCCL's NVTX payloads, also its functions, or automatic: also its functions if the payloads do not contain
// the communicator.
enum class NcclCapture : std::uint8_t { automatic, payload, interpose };

// Reaction when another CUPTI user in the process registers its buffers: leave CUPTI to it, register the agent's buffers again, or
// share CUPTI: each has its own buffers, as a subscriber of CUPTI's version 2.
enum class Coexist : std::uint8_t { yield, retake, share };

// PyTorch events to record: training steps, also operators, and with the operators their inputs, their Python stacks,
// allocations with their Python stacks, or all of these.
enum class TorchLevel : std::uint8_t { off, steps, operators, shapes, stacks, memory, all };
constexpr bool has_inputs(TorchLevel level) { return level == TorchLevel::shapes || level == TorchLevel::all; }
constexpr bool has_python_stacks(TorchLevel level) { return level == TorchLevel::stacks || level == TorchLevel::all; }
constexpr bool has_allocations(TorchLevel level) { return level == TorchLevel::memory || level == TorchLevel::all; }

struct Settings {
  char dir[PATH_MAX] = "./traces";  // absolute once it is read
  std::uint64_t ring_bytes = 256ull << 20;
  std::uint64_t flush_ms = 200;
  char cupti[PATH_MAX] = "";        // path of the libcupti to load; empty: find one
  EventSet events = kDefaultEvents;
  NcclCapture nccl = NcclCapture::automatic;
  TorchLevel torch = TorchLevel::steps;
  std::uint64_t hang_stacks_s = 60;  // 0: none
  bool spool = false;  // TRACETOOL_MODE
  std::uint64_t keep_runs = 0;  // 0: all
  // 0: unlimited. Sixteen runs of eight ranks with their default rings.
  std::uint64_t max_disk_bytes = 32ull << 30;
  bool native_stacks = false;
  bool verbose = false;
  Coexist coexist = Coexist::yield;
  std::uint64_t guard_cpu_pct = 3;  // 0: no limit
  std::uint64_t guard_rate = 500'000;  // records per second; 0: no limit
};

struct Setting {
  const char* name;
  const char* type;      // value name of the option of `record` that sets it (--flush-ms); "" if no option takes a value
  const char* fallback;  // as a user would write it
  const char* allowed;   // the allowed values, for messages
  const char* help;
  bool (*set)(Settings&, const char* value);  // returns false if the value is not allowed
};

// "64M" and "64MiB" (64 << 20), "64MB" (64,000,000), "1048576": bytes, with k, M, G, T or P in upper or lower case. Returns
// false for anything else.
inline bool parse_bytes(const char* text, std::uint64_t& bytes) noexcept;

// Each sets the value of one variable. Returns false if the value is not allowed; the settings may have changed nevertheless.
namespace values {

constexpr std::uint64_t kMinRing = 64ull << 10;
constexpr std::uint64_t kMaxRing = 1ull << 40;

inline bool parse_number(const char* text, std::uint64_t& value, const char*& rest) {
  const auto result = std::from_chars(text, text + std::strlen(text), value);
  rest = result.ptr;
  return result.ec == std::errc();
}

// Copies the text, because programs that set their title overwrite the memory of their environment.
template <std::size_t Size>
bool copy_text(char (&to)[Size], const char* value) {
  const int length = snprintf(to, Size, "%s", value);
  return length > 0 && static_cast<std::size_t>(length) < Size;
}

inline bool set_dir(Settings& settings, const char* value) { return copy_text(settings.dir, value); }

inline bool set_buffer(Settings& settings, const char* value) {
  std::uint64_t bytes;
  if (!trace::parse_bytes(value, bytes) || bytes < kMinRing || bytes > kMaxRing) return false;
  settings.ring_bytes = bytes;
  return true;
}

inline bool set_flush(Settings& settings, const char* value) {
  std::uint64_t ms;
  const char* rest;
  if (!parse_number(value, ms, rest) || *rest != '\0' || ms < 1 || ms > 60'000) return false;
  settings.flush_ms = ms;
  return true;
}

inline bool set_cupti(Settings& settings, const char* value) {
  if (!copy_text(settings.cupti, value)) return false;
  if (std::strcmp(value, "auto") == 0) settings.cupti[0] = '\0';
  return true;
}

inline bool set_events(Settings& settings, const char* value) { return parse_events(value, settings.events); }

// Sets the choice whose word is `value`. `words` are in the order of the enumeration.
template <typename Choice, std::size_t Count>
bool set_choice(Choice& choice, const char* const (&words)[Count], const char* value) {
  for (std::size_t i = 0; i < Count; ++i) {
    if (std::strcmp(value, words[i]) != 0) continue;
    choice = static_cast<Choice>(i);
    return true;
  }
  return false;
}

inline bool set_nccl(Settings& settings, const char* value) {
  return set_choice(settings.nccl, {"auto", "payload", "interpose"}, value);
}

inline bool set_torch(Settings& settings, const char* value) {
  return set_choice(settings.torch, {"off", "steps", "ops", "shapes", "stacks", "memory", "all"}, value);
}

inline bool set_hang_stacks(Settings& settings, const char* value) {
  const char* rest;
  return parse_number(value, settings.hang_stacks_s, rest) && *rest == '\0' && settings.hang_stacks_s <= 86'400;
}

inline bool set_mode(Settings& settings, const char* value) {
  settings.spool = std::strcmp(value, "spool") == 0;
  return settings.spool || std::strcmp(value, "ring") == 0;
}

inline bool set_keep(Settings& settings, const char* value) {
  const char* rest;
  return parse_number(value, settings.keep_runs, rest) && *rest == '\0';
}

inline bool set_max_disk(Settings& settings, const char* value) { return trace::parse_bytes(value, settings.max_disk_bytes); }

inline bool is_switch(const char* value) { return std::strcmp(value, "0") == 0 || std::strcmp(value, "1") == 0; }

inline bool set_verbose(Settings& settings, const char* value) {
  settings.verbose = value[0] == '1';
  return is_switch(value);
}

inline bool set_native_stacks(Settings& settings, const char* value) {
  settings.native_stacks = value[0] == '1';
  return is_switch(value);
}

inline bool set_coexist(Settings& settings, const char* value) {
  return set_choice(settings.coexist, {"yield", "retake", "share"}, value);
}

inline bool set_guard_cpu(Settings& settings, const char* value) {
  const char* rest;
  return parse_number(value, settings.guard_cpu_pct, rest) && *rest == '\0' && settings.guard_cpu_pct <= 100;
}

inline bool set_guard_rate(Settings& settings, const char* value) {
  const char* rest;
  return parse_number(value, settings.guard_rate, rest) && *rest == '\0';
}

// disabled_by_user() reads it before anything else happens. Any value but 0 disables the agent.
inline bool set_disable(Settings&, const char*) { return true; }

}  // namespace values

inline constexpr auto kEventsHelp = with_kinds(
    "Events to record: light, default, all, or kinds joined by commas. + and - change a set "
    "(default,-overhead,+memory). Kinds: {kinds}. graph_launch records whole graphs instead of their nodes");

inline constexpr Setting kSettings[] = {
    {"TRACETOOL_DIR", "", "./traces", "a path of at most 4095 bytes", "Directory for recordings. Each run gets its own subdirectory", values::set_dir},
    {"TRACETOOL_BUFFER", "SIZE", "256M", "64K to 1024G", "Size of the ring of each process. The ring keeps the newest records", values::set_buffer},
    {"TRACETOOL_MODE", "MODE", "ring", "ring, spool", "Records to keep: ring (the newest) or spool (all, in a compressed file next to the ring)", values::set_mode},
    {"TRACETOOL_KEEP", "N", "0", "a number of runs", "Runs to keep, including this one. Older runs are deleted. 0 keeps all", values::set_keep},
    {"TRACETOOL_MAX_DISK", "SIZE", "32G", "a size like 32G, or 0", "Maximum disk usage. Older runs are deleted beyond it. It also limits each spool file. 0: unlimited", values::set_max_disk},
    {"TRACETOOL_FLUSH_MS", "MS", "200", "1 to 60000", "CUPTI flush interval in ms", values::set_flush},
    {"TRACETOOL_CUPTI", "PATH", "auto", "a path, auto", "Path of libcupti. auto uses the loaded copy, else PyTorch's or the CUDA toolkit's", values::set_cupti},
    {"TRACETOOL_COEXIST", "HOW", "yield", "yield, retake, share", "Reaction when another CUPTI user registers its buffers: yield (stop recording GPU work) or retake (register the agent's again). share gives each user its own buffers (CUPTI 13.3, driver r610; not tested on hardware)", values::set_coexist},
    {"TRACETOOL_GUARD_CPU", "PERCENT", "3", "0 to 100", "Maximum CPU use of the agent and CUPTI's threads over 10 s, in percent of a core. Above it, recording is reduced to light. 0: unlimited", values::set_guard_cpu},
    {"TRACETOOL_GUARD_RATE", "N", "500000", "a number", "Maximum records per second over 10 s. Above it, recording is reduced to light. 0: unlimited", values::set_guard_rate},
    {"TRACETOOL_EVENTS", "LIST", "default", "light, default, all, or kinds joined by commas", kEventsHelp.data(), values::set_events},
    {"TRACETOOL_NCCL", "FROM", "auto", "auto, payload, interpose", "Source of NCCL calls: payload (NCCL's NVTX ranges), interpose (also its functions; needs LD_PRELOAD) or auto (interpose before NCCL 2.25)", values::set_nccl},
    {"TRACETOOL_TORCH", "LEVEL", "steps", "off, steps, ops, shapes, stacks, memory, all", "PyTorch events to record: off, steps (training steps and record_function ranges), ops (also operators), shapes (also their inputs), stacks (operators with Python stacks and modules; also stacks of NCCL calls and of CUDA calls that wait or allocate), memory (operators, and allocations of GPU memory with Python stacks), all (shapes, stacks and memory). If it is set and the agent is preloaded (LD_PRELOAD), processes without a GPU are recorded too", values::set_torch},
    {"TRACETOOL_NATIVE_STACKS", "", "0", "0, 1", "1 records native stacks of launches, synchronizations, allocations and NCCL calls (at most 100 per second and thread)", values::set_native_stacks},
    {"TRACETOOL_HANG_STACKS", "SECONDS", "60", "0 to 86400", "Record all Python stacks once after N seconds without GPU or operator activity. Requires TRACETOOL_TORCH other than off. 0: never", values::set_hang_stacks},
    {"TRACETOOL_VERBOSE", "", "0", "0, 1", "1 reports on stderr what was found and where the recording goes", values::set_verbose},
    {"TRACETOOL_DISABLE", "", "0", "0, 1", "1, or any value but 0, disables the agent", values::set_disable},
};

inline bool parse_bytes(const char* text, std::uint64_t& bytes) noexcept {
  constexpr char kPrefixes[] = "kmgtp";
  std::uint64_t value;
  const char* rest;
  if (!values::parse_number(text, value, rest)) return false;
  const char* prefix = *rest != '\0' ? std::strchr(kPrefixes, *rest | 0x20) : nullptr;
  if (prefix != nullptr) ++rest;
  const bool is_decimal = strcasecmp(rest, "B") == 0;
  if (*rest != '\0' && !is_decimal && (prefix == nullptr || strcasecmp(rest, "iB") != 0)) return false;
  for (const char* at = kPrefixes; prefix != nullptr && at <= prefix; ++at) {
    if (__builtin_mul_overflow(value, is_decimal ? 1000u : 1024u, &value)) return false;
  }
  bytes = value;
  return true;
}

// Returns the setting of a variable, or nullptr.
inline const Setting* find_setting(std::string_view name) noexcept {
  for (const Setting& setting : kSettings) {
    if (name == setting.name) return &setting;
  }
  return nullptr;
}

// Returns the wrong word of a value with several words, or "" if the whole value is wrong.
inline std::string_view wrong_word(const Setting& setting, const char* value) noexcept {
  return setting.set == values::set_events ? unknown_word(value) : std::string_view();
}

}  // namespace trace
