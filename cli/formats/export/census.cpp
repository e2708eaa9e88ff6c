#include "cli/formats/export/census.h"

#include <algorithm>

namespace cli {

void Census::count(const Event& event) {
  if (event.kind == Kind::flow) return;
  first_ns_ = std::min(first_ns_, event.start_ns);
  last_ns_ = std::max(last_ns_, slice_end(event, event.start_ns));
  OfTrack& track = tracks[event.track];
  track.seen = true;
  if (event.kind == Kind::kernel) ++(names_[event.name].communicates ? track.nccl_kernels : track.kernels);
  OfProcess& process = processes[catalog_->tracks[event.track].process];
  if (!process.seen || event.start_ns < process.first_ns) process.first_ns = event.start_ns;
  process.seen = true;
}

}  // namespace cli
