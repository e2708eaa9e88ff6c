// One catalogue for all inputs, of one for each of them.
#pragma once
#include "cli/trace/catalog.h"
#include "cli/formats/reading/id_map.h"

namespace cli {

// Appends the processes and tracks of `from` to those of `to`; what is interned there gets the ids that it would have if
// its events had been read into `to`. Returns what the ids of `from` are in `to`. The processes of `from` have no content
// afterwards.
IdMap join_catalog(Catalog& from, Catalog& to);

}  // namespace cli
