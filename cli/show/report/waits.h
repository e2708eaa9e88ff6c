// The waits of ranks in collectives. A wait lasts from a rank's own start to the start of the last rank, and is a wait for that rank.
#pragma once
#include "cli/answers/tables/analyze.h"

namespace cli::report {

struct WaitTables {
  ResultTable by_communicator;  // rank, communicator, description, epoch, collectives, wait_ns: the sums of waits in the table collectives
  ResultTable by_rank;          // rank, for_rank, collectives, wait_ns, exposed_ns
  ResultTable by_step;          // step, for_rank, exposed_ns: of all ranks together
};

// Returns an analysis for an AnalysisRequest. Its finish() fills `tables`, which must outlive it. exposed_ns is the part of the waits without
// compute. It is part of exposed_comm_ns in the table temporal, and each moment counts once.
TablesObserverEntry waits_observer(WaitTables& tables);

}  // namespace cli::report
