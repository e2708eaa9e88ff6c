// What `--run` may say besides a run's name.
#pragma once

namespace cli {

inline constexpr const char* kLatestRun = "latest";
inline constexpr const char* kAllRuns = "all";

}  // namespace cli
