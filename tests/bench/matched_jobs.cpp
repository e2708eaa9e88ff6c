// matched_jobs JOBS [FIRST]: matches the collectives of JOBS synthesized jobs (tests/unit/cli/timeline/collectives/parallel_jobs.h). Each job is drawn
// by its number, from FIRST on (default 1): tensor x data x pipeline parallelism up to 64 ranks; all names, some, or none; clocks up to 5 s
// and 50 ppm apart; lost kernels; one slow rank, ranks that are late in turn, or neither. Prints how many pairs of calls are matched rightly
// and wrongly, and how many of the pairs that times prove are matched, for all jobs and for each class of jobs. Fails if one pair is wrong,
// or if less than 95 % of the proved pairs are matched. Classes below 95 % are marked.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/unit/cli/timeline/collectives/parallel_jobs.h"

namespace {

std::string class_of(const cli::ParallelJob& job) {
  const char* const names[] = {"names and numbers", "names", "some names", "no names"};
  const char* const troubles[] = {"healthy", "one slow rank", "late in turn"};
  return fmt::format("{}, {}, {}", names[static_cast<std::size_t>(job.names)],
                     troubles[static_cast<std::size_t>(job.trouble)], job.lost > 0 ? "losses" : "no losses");
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t jobs = argc >= 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const std::uint64_t first = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (jobs == 0 || argc > 3) {
    fmt::print(stderr, "matched_jobs JOBS [FIRST]\n");
    return 1;
  }
  const auto cpu_s = [] {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  };
  cli::ParallelScore sum;
  std::map<std::string, cli::ParallelScore> classes;
  double longest_s = 0, all_s = 0;
  for (std::uint64_t seed = first; seed < first + jobs; ++seed) {
    const cli::ParallelJob drawn = cli::ParallelJob::drawn(seed);
    const cli::ParallelJobCalls job(drawn);
    const double before_s = cpu_s();
    const cli::MatchedCollectives matched = match_collectives(job.calls, job.catalog);
    const double took_s = cpu_s() - before_s;
    longest_s = std::max(longest_s, took_s);
    all_s += took_s;
    const cli::ParallelScore got = judge(job, matched);
    if (got.wrong > 0 || got.false_complete > 0)
      fmt::print("job {}: {} wrong, {} falsely complete\n", seed, got.wrong, got.false_complete);
    sum += got;
    classes[class_of(drawn)] += got;
  }
  const auto is_enough = [](const cli::ParallelScore& score) { return 100 * score.proved >= 95 * score.provable; };
  const auto percent = [](const cli::ParallelScore& score) {
    return score.provable == 0 ? 100 : 100 * static_cast<double>(score.proved) / static_cast<double>(score.provable);
  };
  const bool is_good = sum.wrong == 0 && sum.false_complete == 0 && is_enough(sum);
  for (const auto& [name, score] : classes) {
    fmt::print("{:45} {:8} pairs matched, {} wrongly, {:6.2f} % of {} that times prove{}\n", name, score.right,
               score.wrong, percent(score), score.provable, is_enough(score) ? "" : " (below 95 %)");
  }
  fmt::print("{} jobs: {} pairs of calls matched, {} wrongly, {} collectives falsely complete\n", jobs, sum.right,
             sum.wrong, sum.false_complete);
  fmt::print("{:.2f} % of the {} pairs that times prove\n", percent(sum), sum.provable);
  fmt::print("{:.1f} s, {:.2f} s for the longest\n", all_s, longest_s);
  return is_good ? 0 : 1;
}
