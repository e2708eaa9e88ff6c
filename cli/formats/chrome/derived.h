// Derived tracks in Chrome trace JSON. Slices are on separate tracks below the streams of their device (lost data: at
// the top of the process), with lanes if they overlap. Counters are identified by a name that is unique in the process.
// A track is described when it is first used.
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
  // All arguments have to outlive it. Allocates ids from the processes' next_tid. `home` contains the track that
  // represents each process.
  ChromeDerived(const Catalog& catalog, const std::vector<TrackLayout>& tracks, std::vector<ProcessLayout>& processes,
                const std::vector<std::string>& home);

  // Writes a slice or counter value. A slice that begins before `origin_ns` begins there; one that ends before it is
  // skipped.
  void draw(Derived derived, std::int64_t origin_ns, ChromeText& text, ExportSummary& summary);

 private:
  struct Location {
    std::vector<std::string> where;  // chrome_ids(), by lane
    Lanes lanes{LaneRule::nest};
    std::string name;  // for a counter, as a JSON string
  };
  void counter(const Derived& derived, ChromeText& text);
  const std::string& lane(const Derived& slice, ChromeText& text);
  std::string name(const Derived& derived) const;
  std::int64_t sort_index(const Derived& derived) const;

  const Catalog& catalog_;
  std::vector<ProcessLayout>& processes_;
  const std::vector<std::string>& home_;
  std::map<DerivedTrackKey, Location> locations_;
  // By device: the sort position of its last stream
  std::map<std::pair<ProcessId, std::int64_t>, std::size_t> last_streams_;
  std::vector<std::size_t> devices_;  // number of devices by ProcessId
};

}  // namespace cli::chrome
