#include "cli/export/census.h"

#include <algorithm>

namespace cli {

void Census::count(const Event& event) {
  if (event.kind == Kind::flow) return;
  first_ns_ = std::min(first_ns_, event.start_ns);
  last_ns_ = std::max(last_ns_, slice_end(event, event.start_ns));
  OfTrack& track = tracks[event.track];
  track.seen = true;
  if (event.kind == Kind::kernel) ++(nccl(event.name) ? track.nccl_kernels : track.kernels);
  OfProcess& process = processes[catalog_->tracks[event.track].process];
  if (!process.seen || event.start_ns < process.first_ns) process.first_ns = event.start_ns;
  process.seen = true;
}

bool Census::nccl(StringId name) {
  if (name >= names_.size()) names_.resize(std::max<std::size_t>(catalog_->strings.size(), name + std::size_t{1}));
  if (names_[name] == Name::unknown) {
    names_[name] = is_nccl_name(catalog_->strings[name]) ? Name::nccl : Name::other;
  }
  return names_[name] == Name::nccl;
}

}  // namespace cli
