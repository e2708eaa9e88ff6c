// Computed rows in Chrome trace JSON: slices on rows of their own, beneath the streams of their device (what was lost:
// on top of the process); counters by name, which is unique in the process. Described when they are first used.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/export/chrome_text.h"
#include "cli/export/exporter.h"
#include "cli/export/rows.h"

namespace cli {

class ChromeDerived {
 public:
  // All outlive it. Takes ids from the processes' next_tid. `home` is the row that stands for each process.
  ChromeDerived(const Catalog& catalog, const std::vector<TrackRow>& tracks, std::vector<ProcessRow>& processes,
                const std::vector<std::string>& home);

  // Nothing is drawn before `origin_ns`: what begins before it begins there, what ends before it is left out.
  void draw(Derived derived, std::int64_t origin_ns, ChromeText& text, ExportSummary& summary);

 private:
  struct Place {
    std::string where;  // chrome_row()
    std::string name;   // of the counter
  };
  const Place& place(const Derived& derived, ChromeText& text);
  std::string name(const Derived& derived) const;
  std::int64_t sort_index(const Derived& derived) const;

  const Catalog& catalog_;
  std::vector<ProcessRow>& processes_;
  const std::vector<std::string>& home_;
  std::map<std::tuple<ProcessId, DerivedRow, std::int64_t>, Place> places_;
  std::map<std::pair<ProcessId, std::int64_t>, std::size_t> last_streams_;  // of a device: the order of its last stream
  std::vector<std::size_t> devices_;                                        // by ProcessId: how many
};

}  // namespace cli
