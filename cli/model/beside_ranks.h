// Processes that a run has beside its ranks: torchrun itself, a worker that loads data, a script that starts the training. Where the
// launcher says of some recordings which rank they are, and of another one it says none (or it was started by a rank, agent/ring/identity.h)
// and that one used no GPU, that one is no rank.
// Profiles are not meant: of these a name may not tell the rank.
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
