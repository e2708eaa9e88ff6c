// How ranks and runs are called, and which processes a run has beside its ranks.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// "rank 3", "ranks 0-7, 9": the ranks of a run in few words.

// Sorts them and leaves out what comes twice; those below 0 are "unknown". "" for none.
std::string rank_list(std::vector<std::int64_t> ranks);
// " of rank 3"; "" if the rank is unknown.
std::string of_rank(std::int64_t rank);

// "0-7, 9": numbers from 0, sorted, each once.
std::string number_list(std::vector<std::int64_t> numbers);

// Processes that a run has beside its ranks: torchrun itself, a worker that loads data, a script that starts the training. Where the
// launcher says of some recordings which rank they are, and of another one it says none (or it was started by a rank, agent/ring/ring_header.h)
// and that one used no GPU, that one is no rank.
// The same holds for a profile without rank and GPU work if other profiles have both: the front end of a server, next to its workers
// (vLLM's async_llm).

// By ProcessId.
std::vector<bool> beside_ranks(const Catalog& catalog);

// "pid 4711 (python3 train.py)"
std::string process_words(const Process& process);

// What `--run` may say besides a run's name.
inline constexpr const char* kLatestRun = "latest";
inline constexpr const char* kAllRuns = "all";

}  // namespace cli
