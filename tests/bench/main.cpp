// Usage: bench [--smoke]. Prints each figure beside its budget. A missed budget is marked, never an error: the machine
// may be busy.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
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

std::uint64_t own_peak() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

double fastest_s(int rounds, const std::function<void()>& run) { return fastest(CLOCK_MONOTONIC, rounds, run); }
double fastest_cpu_s(int rounds, const std::function<void()>& run) {
  return fastest(CLOCK_THREAD_CPUTIME_ID, rounds, run);
}

std::uint64_t peak_bytes(const std::function<void()>& run) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  if (fork() == 0) {
    const std::uint64_t before = own_peak();
    run();
    const std::uint64_t grown = own_peak() - before;
    _exit(write(ends[1], &grown, sizeof(grown)) == sizeof(grown) ? 0 : 1);
  }
  close(ends[1]);
  std::uint64_t grown = 0;
  if (read(ends[0], &grown, sizeof(grown)) != sizeof(grown)) grown = 0;
  close(ends[0]);
  wait(nullptr);
  return grown;
}

}  // namespace bench

int main(int argc, char** argv) {
  const bool small = argc > 1 && std::strcmp(argv[1], "--smoke") == 0;
  fmt::print("{:<44} {:<34} {}\n", "what", "budget", "measured");
  for (const auto subject : {bench::append, bench::json_read, bench::json_write, bench::merge}) {
    for (const bench::Figure& f : subject(small)) {
      fmt::print("{:<44} {:<34} {}{}\n", f.what, f.budget, f.measured, f.within ? "" : "   MISSED");
    }
  }
  return 0;
}
