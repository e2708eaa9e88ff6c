// matched_jobs JOBS: matches the collectives of so many synthesized jobs (tests/unit/cli/collectives/parallel_jobs.h), each drawn by its
// number: tensor x data x pipeline parallelism up to 64 ranks, with all names, some, or none; clocks up to 5 s and 50 ppm apart; lost
// kernels; one slow rank, ranks late in turn, or neither. Prints how many pairs of calls are matched rightly and wrongly, and how many
// of those that times prove. Fails if one is wrong, or less than 95 % of these are matched.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>

#include "tests/unit/cli/collectives/parallel_jobs.h"

int main(int argc, char** argv) {
  const std::uint64_t jobs = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (jobs == 0) {
    fmt::print(stderr, "matched_jobs JOBS\n");
    return 1;
  }
  const auto cpu_s = [] {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  };
  cli::ParallelScore sum;
  double longest_s = 0, all_s = 0;
  for (std::uint64_t seed = 1; seed <= jobs; ++seed) {
    const cli::ParallelJobCalls job(cli::ParallelJob::drawn(seed));
    const double before_s = cpu_s();
    const cli::MatchedCollectives matched = match_collectives(job.calls, job.catalog);
    const double took_s = cpu_s() - before_s;
    longest_s = std::max(longest_s, took_s);
    all_s += took_s;
    const cli::ParallelScore got = judge(job, matched);
    if (got.wrong > 0 || got.false_complete > 0) fmt::print("job {}: {} wrong, {} falsely complete\n", seed, got.wrong, got.false_complete);
    sum += got;
  }
  const double share = sum.provable == 0 ? 1 : static_cast<double>(sum.proved) / static_cast<double>(sum.provable);
  fmt::print("{} jobs: {} pairs of calls matched, {} wrongly, {} collectives falsely complete\n", jobs, sum.right, sum.wrong, sum.false_complete);
  fmt::print("{:.2f} % of the {} pairs that times prove\n", 100 * share, sum.provable);
  fmt::print("{:.1f} s, {:.2f} s for the longest\n", all_s, longest_s);
  return sum.wrong > 0 || sum.false_complete > 0 || share < 0.95 ? 1 : 0;
}
