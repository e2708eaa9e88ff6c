// Computed tracks in Chrome trace JSON: slices on tracks of their own, beneath the streams of their device (what was lost:
// on top of the process), with lanes where they overlap; counters by name, which is unique in the process. Described when they are first used.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/formats/export/chrome_text.h"
#include "cli/formats/export/exporter.h"
#include "cli/formats/export/lanes.h"

namespace cli::chrome {

class ChromeDerived {
 public:
  // All outlive it. Takes ids from the processes' next_tid. `home` is the track that stands for each process.
  ChromeDerived(const Catalog& catalog, const std::vector<TrackLayout>& tracks, std::vector<ProcessLayout>& processes,
                const std::vector<std::string>& home);

  // Nothing is written before `origin_ns`: what begins before it begins there, what ends before it is left out.
  void draw(Derived derived, std::int64_t origin_ns, ChromeText& text, ExportSummary& summary);

 private:
  struct Location {
    std::vector<std::string> where;  // chrome_ids(), by lane
    Lanes lanes{LaneRule::nest};
    std::string name;  // of a counter, as a JSON string
  };
  void counter(const Derived& derived, ChromeText& text);
  const std::string& lane(const Derived& slice, ChromeText& text);
  std::string name(const Derived& derived) const;
  std::int64_t sort_index(const Derived& derived) const;

  const Catalog& catalog_;
  std::vector<ProcessLayout>& processes_;
  const std::vector<std::string>& home_;
  std::map<DerivedTrackKey, Location> locations_;
  std::map<std::pair<ProcessId, std::int64_t>, std::size_t> last_streams_;  // of a device: the order of its last stream
  std::vector<std::size_t> devices_;                                        // by ProcessId: how many
};

}  // namespace cli::chrome
