#include <fmt/format.h>

#include "tests/bench/bench.h"
#include "tests/unit/cli/timeline/collectives/made_lateness.h"

namespace bench {

Figures late(bool small) {
  const cli::LateScore score = cli::late_score(1, small ? 20 : 2000);
  const auto percent = [](std::size_t some, std::size_t all) {
    return 100.0 * static_cast<double>(some) / static_cast<double>(all);
  };
  return {{"jobs whose planted stragglers are named", ">= 99 %",
           fmt::format("{:.1f} % of {}", percent(score.right, score.late), score.late),
           score.right * 100 >= score.late * 99},
          {"healthy and noisy jobs without a straggler", ">= 99 %",
           fmt::format("{:.1f} % of {}", percent(score.silent, score.healthy), score.healthy),
           score.silent * 100 >= score.healthy * 99}};
}

}  // namespace bench
