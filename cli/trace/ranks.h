// Names of ranks and runs, and the processes of a run that are not ranks.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// Returns the ranks in few words: "rank 3", "ranks 0-7, 9". Sorts the ranks and removes duplicates. Ranks below 0 are
// printed as "unknown". Returns "" if there are none.
std::string rank_list(std::vector<std::int64_t> ranks);
// " of rank 3"; "" if the rank is unknown.
std::string of_rank(std::int64_t rank);

// Returns "0-7, 9" for numbers from 0. Sorts them and removes duplicates.
std::string number_list(std::vector<std::int64_t> numbers);

// Processes of a run that are not ranks: torchrun, a data loader worker, a script that starts the training. A recording
// without GPU use is one of these if it has no rank (or a rank started it, agent/ring/trace_file.h) and the launcher
// gave other recordings of the run a rank. A profile without a rank and GPU work is one if other profiles have both,
// for example the front end of a server next to its workers (vLLM's async_llm). By ProcessId: true if the process is
// not a rank.
std::vector<bool> beside_ranks(const Catalog& catalog);

// Returns, for example, "pid 4711 (python3 train.py)".
std::string process_words(const Process& process);

// Values of `--run` other than the name of a run.
inline constexpr const char* kLatestRun = "latest";
inline constexpr const char* kAllRuns = "all";

}  // namespace cli
