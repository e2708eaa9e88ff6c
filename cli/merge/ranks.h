// Who is who: one process per rank, in the order of ranks.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/model/catalog.h"

namespace cli {

// Gives `rank`, if there is one, to the process that was read from `source`: the one from index `first` on. Throws
// Error (usage) when the file holds several.
void set_rank(Catalog& catalog, std::size_t first, const std::string& source, std::optional<std::int64_t> rank);

// Throws Error (usage) that names both files when two processes claim one rank and are not its phases (phases.h).
void check_ranks(const Catalog& catalog);

// A warning when processes come from more than one run, else "".
std::string mixed_runs(const Catalog& catalog);

// A sentence when ranks of one run come from several files, so that what reads them all counts them twice;
// phases are not meant.
std::vector<std::string> repeated_ranks(const Catalog& catalog);

// Sorts the processes by rank (unknown ones last), then phase in time, then source; the tracks follow. Afterwards
// Catalog::track() must not be asked for new tracks.
void sort_processes(Catalog& catalog);

}  // namespace cli
