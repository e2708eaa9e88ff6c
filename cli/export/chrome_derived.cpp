#include "cli/export/chrome_derived.h"

#include <algorithm>

#include "cli/export/chrome_colors.h"
#include "cli/export/track_lanes.h"

namespace cli {

ChromeDerived::ChromeDerived(const Catalog& catalog, const std::vector<TrackRow>& tracks,
                             std::vector<ProcessRow>& processes, const std::vector<std::string>& home)
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
  const bool counter = row(derived.row).counter;
  if (!counter && early_ns > 0 && early_ns >= derived.duration_ns) return;
  derived.start_ns += early_ns;
  derived.duration_ns -= counter ? 0 : early_ns;
  const Place& where = place(derived, text);
  if (counter) {
    text.computed_value(derived, where.name, where.where);
    ++summary.derived_values;
  } else {
    text.computed_slice(derived, derived_text(derived, catalog_.processes[derived.process]), where.where, chrome_color(derived.row));
    ++summary.derived_slices;
  }
}

const ChromeDerived::Place& ChromeDerived::place(const Derived& derived, ChromeText& text) {
  const auto [entry, is_new] = places_.try_emplace({derived.process, derived.row, derived.device});
  Place& place = entry->second;
  if (!is_new) return place;
  place.name = name(derived);
  place.where = home_[derived.process];
  if (row(derived.row).counter) return place;
  ProcessRow& process = processes_[derived.process];
  place.where = chrome_row(process.pid, process.next_tid++);
  text.name("thread_name", place.where, place.name);
  text.sort_index("thread_sort_index", place.where, sort_index(derived));
  return place;
}

std::string ChromeDerived::name(const Derived& derived) const {
  const std::string what(row(derived.row).name);
  if (derived.row == DerivedRow::lost) return what;
  if (derived.device < 0) return "host " + what;
  return devices_[derived.process] > 1 ? "GPU " + std::to_string(derived.device) + ' ' + what : what;
}

std::int64_t ChromeDerived::sort_index(const Derived& derived) const {
  if (derived.row == DerivedRow::lost) return -1;
  const auto last = last_streams_.find({derived.process, derived.device});
  const std::size_t order = last == last_streams_.end() ? 0 : last->second;
  return static_cast<std::int64_t>(TrackLanes::index_beneath(order)) + (derived.row == DerivedRow::exposed_comm);
}

}  // namespace cli
