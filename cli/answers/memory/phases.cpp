#include "cli/answers/memory/phases.h"

#include <array>

namespace cli::memory {

std::vector<PhasePeak> phase_peaks(const snapshot::Snapshot& snapshot, std::int64_t device) {
  const std::vector<Parts::Span> spans = Parts(snapshot, device).spans();
  // If only one part is recognized, its end is unknown. Then there are two spans, because the first is unknown.
  if (spans.size() < 3) return {};
  std::array<PhasePeak, 5> peaks{};  // by Part
  for (const Parts::Span& span : spans) ++peaks[static_cast<std::size_t>(span.part)].occurrences;
  auto span = spans.rbegin();
  walk_states_back(snapshot, device, [&](std::size_t state, std::uint64_t bytes, std::int64_t time_us) {
    while (state < span->first_state) ++span;
    PhasePeak& peak = peaks[static_cast<std::size_t>(span->part)];
    if (bytes < peak.bytes) return;
    peak.bytes = bytes;
    peak.state = state;
    peak.time_us = time_us;
  });
  std::vector<PhasePeak> found;
  for (const Part part : {Part::forward, Part::backward, Part::optimizer, Part::setup, Part::unknown}) {
    PhasePeak& peak = peaks[static_cast<std::size_t>(part)];
    peak.part = part;
    if (peak.occurrences != 0) found.push_back(peak);
  }
  return found;
}

}  // namespace cli::memory
