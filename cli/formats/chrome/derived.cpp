#include "cli/formats/chrome/derived.h"

#include <algorithm>

#include "cli/formats/export/chrome_text.h"
#include "cli/formats/export/lanes.h"

namespace cli::chrome {

ChromeDerived::ChromeDerived(const Catalog& catalog, const std::vector<TrackLayout>& tracks,
                             std::vector<ProcessLayout>& processes, const std::vector<std::string>& home)
    : catalog_(catalog), processes_(processes), home_(home), devices_(processes.size()) {
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const Track& track = catalog.tracks[i];
    if (track.kind != TrackKind::stream) continue;
    const auto [last, is_new] = last_streams_.try_emplace({track.process, track.group}, 0);
    devices_[track.process] += is_new;
    if (tracks[i].shown) last->second = std::max(last->second, tracks[i].order);
  }
}

void ChromeDerived::draw(Derived derived, std::int64_t origin_ns, ChromeText& text, ExportSummary& summary) {
  const std::int64_t early_ns = origin_ns - std::min(derived.start_ns, origin_ns);
  const bool counter = info(derived.track).counter;
  if (!counter && early_ns > 0 && early_ns >= derived.duration_ns) return;
  derived.start_ns += early_ns;
  derived.duration_ns -= counter ? 0 : early_ns;
  if (counter) {
    this->counter(derived, text);
    ++summary.derived_values;
  } else {
    const std::string& where = lane(derived, text);
    text.computed_slice(derived, derived_text(derived, catalog_.processes[derived.process]), where,
                        chrome_color(derived.track));
    ++summary.derived_slices;
  }
}

void ChromeDerived::counter(const Derived& derived, ChromeText& text) {
  Location& location = locations_[track_of(derived)];
  if (location.name.empty()) location.name = json_quoted(name(derived));
  text.computed_value(derived, location.name, home_[derived.process]);
}

const std::string& ChromeDerived::lane(const Derived& slice, ChromeText& text) {
  Location& location = locations_[track_of(slice)];
  const std::size_t lane = location.lanes.place(slice.start_ns, slice.start_ns + slice.duration_ns);
  if (lane < location.where.size()) return location.where[lane];
  ProcessLayout& process = processes_[slice.process];
  location.where.push_back(chrome_ids(process.pid, process.next_tid++));
  const std::string lane_name = lane == 0 ? name(slice) : name(slice) + " (" + std::to_string(lane + 1) + ')';
  text.name("thread_name", location.where[lane], lane_name);
  text.sort_index("thread_sort_index", location.where[lane], sort_index(slice));
  return location.where[lane];
}

std::string ChromeDerived::name(const Derived& derived) const {
  const std::string what = derived_track_name(derived);
  if (derived.track == DerivedTrack::lost) return what;
  if (derived.device < 0) return "host " + what;
  return devices_[derived.process] > 1 ? "GPU " + std::to_string(derived.device) + ' ' + what : what;
}

std::int64_t ChromeDerived::sort_index(const Derived& derived) const {
  if (derived.track == DerivedTrack::lost) return -1;
  const auto last = last_streams_.find({derived.process, derived.device});
  const std::size_t order = last == last_streams_.end() ? 0 : last->second;
  return static_cast<std::int64_t>(TrackLanes::index_beneath(order)) + (derived.track != DerivedTrack::idle);
}

}  // namespace cli::chrome
