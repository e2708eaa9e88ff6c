#include "cli/formats/export/collective_flows.h"

namespace cli {

void CollectiveFlows::join(const JoinedCollectives& joined) {
  joined_ = &joined;
  started_.assign(joined.collectives.size(), false);
  ends_.assign(joined.collectives.size(), 0);
  drawn_.assign(joined.collectives.size(), 0);
}

void CollectiveFlows::prepare(const Event& event) {
  if (!is_slice(event)) return;
  of_slice(event, [&](const JoinedCall& call) {
    if (call.is_last) {
      started_[call.collective] = true;
    } else if (runs_on(event, call)) {
      ++ends_[call.collective];
    }
  });
}

}  // namespace cli
