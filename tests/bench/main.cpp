// Usage: bench [--smoke]. Prints each figure beside its budget. A missed budget is marked, never an error: the machine
// may be busy.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/bench/bench.h"

namespace bench {
namespace {

double clock_s(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double fastest(clockid_t clock, int rounds, const std::function<void()>& run) {
  double best = 1e300;
  for (int i = 0; i < rounds; ++i) {
    const double before = clock_s(clock);
    run();
    best = std::min(best, clock_s(clock) - before);
  }
  return best;
}

}  // namespace

double fastest_s(int rounds, const std::function<void()>& run) { return fastest(CLOCK_MONOTONIC, rounds, run); }
double fastest_cpu_s(int rounds, const std::function<void()>& run) {
  return fastest(CLOCK_THREAD_CPUTIME_ID, rounds, run);
}

std::uint64_t peak_bytes(const Alone& what, const std::string& argument) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "bench", "--peak", what.name, argument.c_str(), nullptr);
    _exit(127);
  }
  rusage usage{};
  int status = 0;
  wait4(child, &status, 0, &usage);
  return status == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) * 1024 : 0;
}

}  // namespace bench

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--peak") == 0) {
    for (const bench::Alone* what :
         {&bench::kJsonReadAlone, &bench::kMergeAlone, &bench::kPftraceWriteAlone, &bench::kRingAlone}) {
      if (std::strcmp(argv[2], what->name) == 0) what->run(argv[3]);
    }
    return 0;
  }
  const bool small = argc > 1 && std::strcmp(argv[1], "--smoke") == 0;
  fmt::print("{:<44} {:<34} {:<7} {}\n", "what", "budget", "", "measured");
  if (!BENCH_PRELOADS) fmt::print("ranges, NCCL calls and start-up are left out: this build has a sanitizer\n");
  for (const auto subject : {bench::append, bench::json_read, bench::json_write, bench::pftrace_write, bench::merge,
                             bench::late, bench::nvtx_cost}) {
    if (subject == bench::nvtx_cost && !BENCH_PRELOADS) continue;
    for (const bench::Figure& f : subject(small)) {
      const char* held = f.budget.starts_with("none") ? "" : f.within ? "held" : "MISSED";
      fmt::print("{:<44} {:<34} {:<7} {}\n", f.what, f.budget, held, f.measured);
    }
    std::fflush(stdout);
  }
  fmt::print(
      "Measured elsewhere: tables against HTA (>= 40x faster, <= 1/4 of its memory) by tests/bench/beside.py; what a killed process\n"
      "keeps by tests/integration/test_kill.py; step time on a GPU by scripts/gpu_check; the error of\n"
      "aligned clocks by tests/unit/cli/timeline/clocks.\n");
  return 0;
}
