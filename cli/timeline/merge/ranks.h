// Who is who: one process per rank, in the order of ranks.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// Gives `rank`, if there is one, to the process that was read from `source`: the one from index `first` on. Throws
// Error (usage) when the file holds several.
void set_rank(Catalog& catalog, std::size_t first, const std::string& source, std::optional<std::int64_t> rank);

// Throws Error (usage) that names both files when two processes claim one rank and are not its phases (phases.h).
void check_ranks(const Catalog& catalog);

// The same where --rank gave both of them the rank.
void check_given_ranks(const Catalog& catalog);

// In what the processes cannot be of one run: their run ids or the sizes of their worlds differ. "" where nothing
// contradicts.
std::string contradiction(const Catalog& catalog);

// A warning where some processes ended before others began, with the largest such gap, else "". Phases of one rank
// follow each other. Clocks may be wrong, so that it proves nothing.
std::string apart_in_time(const Catalog& catalog);

// A sentence when ranks of one run come from several files, so that what reads them all counts them twice;
// phases are not meant.
std::vector<std::string> repeated_ranks(const Catalog& catalog);

// Sorts the processes by rank (unknown ones last), then phase in time, then source; the tracks follow. Afterwards
// Catalog::track() must not be asked for new tracks. Returns what each process has become.
std::vector<ProcessId> sort_processes(Catalog& catalog);

}  // namespace cli
