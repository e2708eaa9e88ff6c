// Processes that a run has beside its ranks: torchrun itself, a worker that loads data, a script that starts the training. Where the
// launcher says of some recordings which rank they are, and of another one it says none (or it was started by a rank, agent/ring/identity.h)
// and that one used no GPU, that one is no rank.
// The same holds for a profile without rank and GPU work if other profiles have both: the front end of a server, next to its workers
// (vLLM's async_llm).
#pragma once
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// By ProcessId.
std::vector<bool> beside_ranks(const Catalog& catalog);

// "pid 4711 (python3 train.py)"
std::string process_words(const Process& process);

}  // namespace cli
