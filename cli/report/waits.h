// How long ranks waited for others in collectives: from their own start to the start of the last rank, for which they wait.
#pragma once
#include "cli/analyze/analyze.h"

namespace cli {

struct WaitTables {
  ResultTable by_communicator;  // rank, communicator, description, epoch, collectives, wait_ns: the sums of waits in the table collectives
  ResultTable by_rank;          // rank, for_rank, collectives, wait_ns, exposed_ns
  ResultTable by_step;          // step, for_rank, exposed_ns: of all ranks together
};

// To be in an AnalysisRequest. Fills `tables` at its finish(), and outlives neither them nor the analysis. exposed_ns is the part of the
// waits in which no compute ran: part of exposed_comm_ns of the table temporal, and each moment counts once.
TablesObserverEntry waits_observer(WaitTables& tables);

}  // namespace cli
