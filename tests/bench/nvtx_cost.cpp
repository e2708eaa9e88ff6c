// What the recorder adds to a program: per NVTX range, per call of NCCL, and to the start of a process that uses
// neither. Each is measured in programs of their own, with the agent preloaded and without.
#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/bench/bench.h"

namespace bench {
namespace {

// The recording of each run goes where nobody looks for it.
class Folder {
 public:
  Folder() {
    if (mkdtemp(path_) == nullptr) std::abort();
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string environment(bool with_agent) const {
    if (!with_agent) return "env -u LD_PRELOAD -u NVTX_INJECTION64_PATH -u CUDA_INJECTION64_PATH -u TRACETOOL_ACTIVE ";
    return fmt::format(
        "env -u NVTX_INJECTION64_PATH -u CUDA_INJECTION64_PATH -u TRACETOOL_ACTIVE LD_PRELOAD={} "
        "TRACETOOL_DIR={} TRACETOOL_BUFFER=64M ",
        AGENT_LIBRARY, path_);
  }

 private:
  char path_[32] = "/tmp/tracetool-bench-XXXXXX";
};

struct LoopCost {
  double range_ns = 0, nccl_ns = 0;
};

LoopCost run_loop(const Folder& folder, bool with_agent, long count) {
  const std::string command = fmt::format("{}{} {}", folder.environment(with_agent), NVTX_LOOP, count);
  LoopCost cost;
  FILE* output = popen(command.c_str(), "r");
  if (output == nullptr || fscanf(output, "%lf %lf", &cost.range_ns, &cost.nccl_ns) != 2) std::abort();
  pclose(output);
  return cost;
}

void run_true(const char* preload) {
  std::string variable = std::string("LD_PRELOAD=") + preload;
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  char* environment[] = {preload[0] != '\0' ? variable.data() : nullptr, nullptr};
  pid_t child = 0;
  int status = 0;
  if (posix_spawn(&child, program, nullptr, nullptr, arguments, environment) != 0) std::abort();
  waitpid(child, &status, 0);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// In turn, so that what else the machine does falls on both.
double start_up_ms(int rounds) {
  std::vector<double> with, without;
  for (int i = 0; i < rounds; ++i) {
    without.push_back(fastest_s(1, [] { run_true(""); }));
    with.push_back(fastest_s(1, [] { run_true(AGENT_LIBRARY); }));
  }
  return (median(with) - median(without)) * 1e3;
}

}  // namespace

Figures nvtx_cost(bool small) {
  const Folder folder;
  const long count = small ? 2'000 : 200'000;
  const LoopCost none = run_loop(folder, false, count), ours = run_loop(folder, true, count);
  const double start_ms = start_up_ms(small ? 5 : 300);
  return {
      {"an NVTX range (push and pop)", "none; printed", fmt::format("+{:.0f} ns", ours.range_ns - none.range_ns), true},
      {"a call of NCCL, from its payload", "none; printed", fmt::format("+{:.0f} ns", ours.nccl_ns - none.nccl_ns),
       true},
      {"start of a process without CUDA", "< 1 ms", fmt::format("+{:.3f} ms (median)", start_ms), start_ms < 1},
  };
}

}  // namespace bench
