// Collects what an overlay gives, by track.
#pragma once
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "cli/formats/export/shared_json.h"

namespace cli {

struct DerivedTracks : DerivedSink {
  struct Item {
    std::int64_t start_ns, duration_ns;
    double value;
    std::string name, args;
  };
  using Key = std::tuple<ProcessId, DerivedTrack, std::int64_t>;

  void derived(const Derived& d) override {
    const DerivedText said = info(d.track).counter || d.facts.loss != Loss::none ? DerivedText() : derived_text(d, {});
    tracks[{d.process, d.track, d.device}].push_back({d.start_ns, d.duration_ns, d.value, said.name, said.args});
    earliest_ns = std::min(earliest_ns, d.start_ns);
    latest_ns = std::max(latest_ns, d.start_ns + d.duration_ns);
  }
  const std::vector<Item>& of(DerivedTrack track, std::int64_t device = 0, ProcessId process = 0) {
    return tracks[{process, track, device}];
  }

  std::map<Key, std::vector<Item>> tracks;
  std::int64_t earliest_ns = INT64_MAX, latest_ns = INT64_MIN;  // since they were last reset
};

}  // namespace cli
