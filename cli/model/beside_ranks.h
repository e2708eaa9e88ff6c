// Processes that a run has beside its ranks: torchrun itself, a worker that loads data, a script that starts the training. Where the
// launcher says of some recordings which rank they are, and of another one it says none (or it was started by a rank, agent/ring/identity.h)
// and that one used no GPU, that one is no rank.
// So is a profile without a rank and without GPU work where profiles with GPU work have ranks, as the one of a server's front end beside its
// workers' (vLLM's async_llm).
#pragma once
#include <string>
#include <vector>

#include "cli/model/catalog.h"

namespace cli {

// By ProcessId.
std::vector<bool> beside_ranks(const Catalog& catalog);

// "pid 4711 (python3 train.py)"
std::string process_words(const Process& process);

}  // namespace cli
