#include "agent/base/host.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace agent {
namespace {

const char* env(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && value[0] != '\0' ? value : nullptr;
}

// Keeps only characters that are harmless in a directory's name; the result is never "." or "..".
void keep_safe(char* text) {
  for (char* at = text; *at != '\0'; ++at) {
    const bool safe = std::isalnum(static_cast<unsigned char>(*at)) || std::strchr("-_.", *at) != nullptr;
    if (!safe || (at == text && *at == '.')) *at = '_';
  }
}

// Returns when a process began, in seconds since 1970. All callers must get the same second, so the clocks are
// subtracted as ns and rounded once.
std::int64_t start_seconds(int pid) {
  const std::uint64_t ticks = process_start_ticks(pid);
  const auto now_ns = static_cast<std::int64_t>(clock_ns(CLOCK_REALTIME));
  if (ticks == 0) return now_ns / 1'000'000'000;
  const std::int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  const std::int64_t boot_ns = now_ns - static_cast<std::int64_t>(clock_ns(CLOCK_BOOTTIME));
  return (boot_ns + static_cast<std::int64_t>(ticks) * tick_ns + tick_ns / 2) / 1'000'000'000;
}

bool has_any(std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [](const char* name) { return env(name) != nullptr; });
}

// Reads /proc/PID/stat. Returns the ')' after the name, which may contain any characters; null if there is none.
const char* read_stat(int pid, char (&stat)[1024]) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/stat", pid);
  read_small_file(path, stat, sizeof(stat));
  return std::strrchr(stat, ')');
}

int parent_of(int pid) {
  char stat[1024];
  const char* at = read_stat(pid, stat);  // followed by the state and the parent
  return at != nullptr && std::strlen(at) > 4 ? std::atoi(at + 4) : 0;
}

// Returns true if a process began with this variable or, if it is followed by '\0', with NAME=VALUE. Searches in small
// parts, because environments may be large.
bool began_with(int pid, const char* name, char behind = '=') {
  char path[64], text[512];
  snprintf(path, sizeof(path), "/proc/%d/environ", pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const std::size_t length = std::strlen(name);
  std::size_t same = 0;  // equal bytes of this entry so far
  bool agrees = true, found = false;
  for (ssize_t got; !found && (got = read(file, text, sizeof(text))) > 0;) {
    for (ssize_t i = 0; !found && i < got; ++i) {
      found = agrees && same == length && text[i] == behind;
      agrees = text[i] == '\0' || (agrees && same < length && text[i] == name[same]);
      same = text[i] == '\0' ? 0 : same + 1;
    }
  }
  close(file);
  return found;
}

constexpr int kMostBetween = 8;

// Finds the process that started the ranks: the parent, except for shells and helpers in between, which also have the
// rank's variables. RANK is not sufficient, because whole containers are started with it.
int launcher() {
  int pid = getppid();
  for (const char* name : {"TORCHELASTIC_RUN_ID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    if (env(name) == nullptr) continue;
    for (int i = 0; i < kMostBetween && pid > 1 && began_with(pid, name); ++i) pid = parent_of(pid);
    break;
  }
  return pid > 0 ? pid : getppid();
}

// Ranks of one launcher share its start time; a program without a launcher has its own.
void start_time_id(char* text, std::size_t size, bool has_launcher) {
  const time_t seconds = start_seconds(has_launcher ? launcher() : getpid());
  tm utc;
  gmtime_r(&seconds, &utc);
  strftime(text, size, "%Y%m%d-%H%M%S", &utc);
}

// A batch script may launch several times. The script itself has SLURM_PROCID, so that variable is not sufficient.
// mpirun's ranks on several nodes have different parents but the same namespace, and on some nodes a step of mpirun
// itself.
void slurm_id(char* text, std::size_t size, const char* job) {
  char start[32];
  const char* step = env("SLURM_STEP_ID");
  if (env("OMPI_COMM_WORLD_RANK") != nullptr && env("PMIX_NAMESPACE") != nullptr) step = env("PMIX_NAMESPACE");
  const bool has_launcher = has_any({"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"});
  if (step == nullptr) start_time_id(start, sizeof(start), has_launcher);
  snprintf(text, size, "slurm-%s.%s", job, step != nullptr ? step : start);
}

// The counts are never cut off, however long the text is: restarts must not share a directory, and a job that Slurm
// requeues with the same number must not share one with its earlier run.
void append_restarts(char* text, std::size_t size, const char* requeues, const char* restarts) {
  char ending[32];
  if (requeues != nullptr && std::strcmp(requeues, "0") == 0) requeues = nullptr;
  const int length = snprintf(ending, sizeof(ending), "%s%.12s%s%.12s", requeues != nullptr ? "-q" : "",
                              requeues != nullptr ? requeues : "", restarts != nullptr ? "-r" : "",
                              restarts != nullptr ? restarts : "");
  const std::size_t room = size - 1 - static_cast<std::size_t>(length), used = std::strlen(text);
  std::strcpy(text + (used < room ? used : room), ending);
}

}  // namespace

std::uint64_t clock_ns(clockid_t clock) noexcept {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

std::size_t read_small_file(const char* path, char* text, std::size_t size) noexcept {
  text[0] = '\0';
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = read(file, text, size - 1);
  close(file);
  const std::size_t length = got > 0 ? static_cast<std::size_t>(got) : 0;
  text[length] = '\0';
  return length;
}

void host_name(char* text, std::size_t size) noexcept {
  if (gethostname(text, size) != 0) snprintf(text, size, "unknown");
  text[size - 1] = '\0';
}

void boot_id(char* text, std::size_t size) noexcept {
  read_small_file("/proc/sys/kernel/random/boot_id", text, size);
  text[std::strcspn(text, "\n")] = '\0';
}

void program_name(char* text, std::size_t size) noexcept {
  static constinit char line[4096];
  const std::size_t length = read_small_file("/proc/self/cmdline", line, sizeof(line));
  snprintf(text, size, "%s", line);
  for (std::size_t at = std::strlen(line) + 1; at < length; at += std::strlen(line + at) + 1) {
    const std::size_t part = std::strlen(line + at);
    if (part < 4 || std::strcmp(line + at + part - 3, ".py") != 0) continue;
    const std::size_t used = std::strlen(text);
    snprintf(text + used, size - used, " %s", line + at);
    return;
  }
}

std::uint64_t process_start_ticks(int pid) noexcept {
  char stat[1024];
  const char* at = read_stat(pid, stat);
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  std::uint64_t ticks = 0;
  if (at != nullptr) std::from_chars(at + 1, at + std::strlen(at), ticks);
  return ticks;
}

bool shares_with_ancestor(const char* name, bool (*counts)(int pid)) noexcept {
  char entry[128];
  const char* value = env(name);
  if (value == nullptr || snprintf(entry, sizeof(entry), "%s=%s", name, value) >= static_cast<int>(sizeof(entry)))
    return false;
  int pid = getppid();
  for (int i = 0; i < kMostBetween && pid > 1; ++i) {
    if (began_with(pid, entry, '\0') && counts(pid)) return true;
    pid = parent_of(pid);
  }
  return false;
}

void run_id(char* text, std::size_t size) noexcept {
  const char* elastic = env("TORCHELASTIC_RUN_ID");
  const char* restart = env("TORCHELASTIC_RESTART_COUNT");
  const char* job = env("SLURM_JOB_ID");
  if (elastic != nullptr && std::strcmp(elastic, "none") == 0) elastic = nullptr;  // torchrun's value for no id
  if (elastic != nullptr) {
    snprintf(text, size, "%s", elastic);
    if (restart == nullptr) restart = "0";
  } else if (job != nullptr) {
    slurm_id(text, size, job);
  } else {
    start_time_id(text, size, has_any({"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", "PMIX_RANK"}));
  }
  append_restarts(text, size, env("SLURM_RESTART_COUNT"), restart);
  keep_safe(text);
}

bool env_number(const char* name, std::int32_t& value) noexcept {
  const char* text = env(name);
  if (text == nullptr) return false;
  const char* end = text + std::strlen(text);
  const auto result = std::from_chars(text, end, value);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace agent
