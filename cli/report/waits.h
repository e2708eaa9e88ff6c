// How long each rank waited for others in the collectives of each communicator.
#pragma once
#include "cli/analyze/analyze.h"
#include "cli/report/html.h"

namespace cli {

// To be in an AnalysisRequest. Fills `table` at its finish(): rank, communicator, description, epoch, collectives, wait_ns; a row for each
// rank in a communicator of which such a time is known. The sums of waits in the table collectives. `table` outlives the analysis.
TablesObserverEntry waits_observer(ResultTable& table);

// A field for each rank and communicator, the darker the longer the rank waited, with the time in words.
void write_wait_matrix(Html& page, const ResultTable& waits);

}  // namespace cli
