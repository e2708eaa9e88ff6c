#include "environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "../standin/true_clock.h"
#include "rank.h"

namespace sim {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBetweenBootsNs = 5'000'000'000'000;  // hosts booted so far apart

int first_rank_of(const Options& options, int host) {
  int rank = 0;
  while (host_of(options, rank) < host) ++rank;
  return rank;
}

int ranks_of(const Options& options, int host) {
  int count = 0;
  for (int rank = 0; rank < options.ranks; ++rank) count += host_of(options, rank) == host ? 1 : 0;
  return count;
}

// Host 0 has the machine's own clocks and boot id.
HostShift shift_of(const Options& options, int host, const HostShift& bases) {
  HostShift shift = bases;
  std::snprintf(shift.name, sizeof(shift.name), "node%02d", host);
  if (host == 0) return shift;
  std::snprintf(shift.boot_id, sizeof(shift.boot_id), "%08llx-0000-4000-8000-%012d",
                static_cast<unsigned long long>(options.seed & 0xffffffffu), host);
  shift.real_offset_ns = host * options.clock_offset_us * 1'000;
  shift.monotonic_offset_ns = host * kBetweenBootsNs;
  shift.drift_ppb = static_cast<std::int64_t>(options.drift_ppm * 1'000 * host);
  if (host == options.hosts - 1) {
    shift.set_ns = options.set_clock_us * 1'000;
    shift.set_at_real_ns = bases.base_real_ns + options.steps * options.step_us * 500;
  }
  return shift;
}

HostShift read_bases() {
  HostShift bases;
  bases.base_real_ns = static_cast<std::int64_t>(true_clock_ns(CLOCK_REALTIME));
  bases.base_monotonic_ns = static_cast<std::int64_t>(true_clock_ns(CLOCK_MONOTONIC));
  bases.base_raw_ns = static_cast<std::int64_t>(true_clock_ns(CLOCK_MONOTONIC_RAW));
  bases.base_boot_ns = static_cast<std::int64_t>(true_clock_ns(CLOCK_BOOTTIME));
  return bases;
}

Environment own_environment() {
  Environment result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    result[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  return result;
}

void add_torchrun(Environment& to, const Options& options, int rank, const std::string& run_id) {
  const int host = host_of(options, rank);
  to["RANK"] = std::to_string(rank);
  to["LOCAL_RANK"] = std::to_string(rank - first_rank_of(options, host));
  to["WORLD_SIZE"] = std::to_string(options.ranks);
  to["LOCAL_WORLD_SIZE"] = std::to_string(ranks_of(options, host));
  to["GROUP_RANK"] = std::to_string(host);
  to["MASTER_ADDR"] = "127.0.0.1";
  to["MASTER_PORT"] = "29500";
  to.try_emplace("TORCHELASTIC_RUN_ID", run_id);
  to.try_emplace("TORCHELASTIC_RESTART_COUNT", "0");
}

void add_agent(Environment& to, const Options& options, const std::string& agent) {
  to.erase("CUDA_INJECTION64_PATH");
  if (!agent.empty()) to["CUDA_INJECTION64_PATH"] = agent;
  to["TRACETOOL_DIR"] = fs::absolute(options.dir).string();
  if (!options.ring_bytes.empty()) to["TRACETOOL_BUFFER"] = options.ring_bytes;
}

void add_standins(Environment& to, const Options& options, int rank, const fs::path& directory, int area) {
  const std::string before = to["LD_LIBRARY_PATH"];
  to["LD_LIBRARY_PATH"] = (directory / "standin").string() + (before.empty() ? "" : ":" + before);
  to[kAreaVariable] = std::to_string(area);
  if (options.ahead_us > 0) to["SIM_AHEAD_US"] = std::to_string(options.ahead_us);
  to.try_emplace("SIM_DEVICES", std::to_string(std::max(8, ranks_of(options, host_of(options, rank)))));
  if (!options.truth.empty()) to["SIM_TRUTH"] = fs::absolute(options.truth).string() + ".rank" + std::to_string(rank);
}

void add_host(Environment& to, const Options& options, int rank, const HostShift& bases) {
  if (options.hosts <= 1) return;
  char text[512];
  write_host_shift(shift_of(options, host_of(options, rank), bases), text, sizeof(text));
  to[kHostVariable] = text;
}

}  // namespace

int host_of(const Options& options, int rank) { return rank * options.hosts / options.ranks; }

Job describe_job(const Options& options, const fs::path& directory, const std::string& agent, int area) {
  const std::string run_id = "simulated-" + std::to_string(getpid()) + "-" + std::to_string(true_ns());
  return {options, directory, agent, area, read_bases(), run_id};
}

Environment rank_environment(const Job& job, int rank) {
  Environment result = own_environment();
  add_torchrun(result, job.options, rank, job.run_id);
  add_agent(result, job.options, job.agent);
  add_standins(result, job.options, rank, job.directory, job.area);
  add_host(result, job.options, rank, job.bases);
  return result;
}

}  // namespace sim
