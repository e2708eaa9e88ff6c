// Waits of ranks in collectives. A wait for the last rank lasts from a rank's own start to the start of that rank.
#pragma once
#include "cli/answers/tables/analyze.h"

namespace cli::report {

struct WaitTables {
  // rank, communicator, description, epoch, collectives, wait_ns: sums of the waits in the table collectives
  ResultTable by_communicator;
  ResultTable by_rank;  // rank, for_rank, collectives, wait_ns, exposed_ns
  ResultTable by_step;  // step, for_rank, exposed_ns: all ranks together
};

// Returns an observer for an AnalysisRequest. Its finish() sets `tables`, which must outlive it. exposed_ns is the part
// of the waits without compute. It is a part of exposed_comm_ns in the table temporal, and each moment counts once.
TablesObserverEntry waits_observer(WaitTables& tables);

}  // namespace cli::report
