// Flows between ranks: from the kernel of the rank that was the last to start a collective to those of the others, which ran
// then and had waited for it. Of n ranks n - 1, whatever their number.
//
// Memory: 9 bytes for each collective.
#pragma once
#include <cstdint>
#include <vector>

#include "cli/formats/export/exporter.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/slice.h"

namespace cli {

class CollectiveFlows {
 public:
  explicit CollectiveFlows(const Catalog& catalog) : catalog_(catalog), next_(catalog.processes.size()) {}

  // Without it there are none. `joined` outlives this.
  void join(const JoinedCollectives& joined);

  // The first pass: every event, then end_prepare().
  void prepare(const Event& event);
  void end_prepare() { std::fill(next_.begin(), next_.end(), 0); }

  struct Flow {
    std::uint64_t id = 0;     // of the collective
    bool starts = false;      // here, at the start of the slice; else it ends here, at
    std::int64_t at_ns = 0;   // this moment, just behind the start of the last, so that readers that sort by time have that first
    std::uint32_t ends = 0;   // where it starts: how many it has
    std::uint32_t pair = 0;   // where it ends: which of these
  };
  // The second pass, each slice: draw(Flow) for each that touches it.
  template <typename Draw>
  void draw(const Event& slice, ExportSummary& summary, Draw&& draw) {
    of_slice(slice, [&](const JoinedCall& call) {
      if (call.is_last) {
        if (started_[call.collective] && ends_[call.collective] > 0) draw(Flow{call.collective, true, call.start_ns, ends_[call.collective], 0});
      } else if (started_[call.collective] && runs_on(slice, call)) {
        draw(Flow{call.collective, false, call.last_start_ns + 1, 0, drawn_[call.collective]++});
        ++summary.collective_flows;
      } else {
        ++summary.unjoined_calls;
      }
    });
  }

 private:
  // When the last has started.
  static bool runs_on(const Event& slice, const JoinedCall& call) {
    return slice.duration_ns < 0 || slice_end(slice, call.last_start_ns) > call.last_start_ns + 1;
  }

  // f(JoinedCall) for each call whose first work this is: kernels may be of several.
  template <typename F>
  void of_slice(const Event& slice, F&& f) {
    if (joined_ == nullptr || !is_gpu_work(slice.kind)) return;
    const ProcessId process = catalog_.tracks[slice.track].process;
    const auto& calls = joined_->calls[process];
    std::size_t& next = next_[process];
    while (next < calls.size() && calls[next].start_ns < slice.start_ns) ++next;
    for (std::size_t i = next; i < calls.size() && calls[i].start_ns == slice.start_ns; ++i) {
      if (calls[i].track == slice.track && calls[i].name == slice.name) f(calls[i]);
    }
  }

  const Catalog& catalog_;
  const JoinedCollectives* joined_ = nullptr;
  std::vector<std::size_t> next_;            // by ProcessId: the first call that has not passed
  std::vector<bool> started_;                // by collective: the last rank's kernel is written
  std::vector<std::uint32_t> ends_, drawn_;  // by collective
};

}  // namespace cli
