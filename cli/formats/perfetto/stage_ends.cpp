#include "cli/formats/perfetto/stage_ends.h"

#include <utility>

namespace cli::perfetto {

void StageEnds::prepare(const Event& event) {
  if (event.start_ns != now_ns_) moment_.clear();
  now_ns_ = event.start_ns;
  if (event.kind != Kind::flow) moment_.add(event, {}, {});
}

bool StageEnds::takes(const Event& flow, TrackId track) {
  if (catalog_.tracks[track].kind != TrackKind::stream) return true;
  Moment::Held* const starting = moment_.find(flow, track);
  if (starting == nullptr) return false;
  if (!stages_.draws(starting->event)) return true;
  if (flow.phase == 's' || flows_.by_correlation(starting->event)) return false;
  return !std::exchange(starting->taken, true);
}

}  // namespace cli::perfetto
