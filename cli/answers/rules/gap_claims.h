// Which rule each moment of a device's idle time belongs to. Every rule over idle time takes its share from here, so that the
// findings' savings do not overlap. The first of these that holds claims a moment (a cause comes before its effects):
//
//   garbage_collection  Python's garbage collector ran before the host launched the next work (DeviceGap::collecting_ns)
//   allocation          the host was in a call that allocates or releases device memory (late_allocations.h)
//   data_loading        the thread that launched the next work was in a range that loads data (host_activity.h)
// What held the host when the device went idle claims as much of the gap, from its start on, as it took: without it, the host would have
// launched that much earlier.
//   allocation          such a call
//   blocking_copy       a copy to the device
//   host_sync           another wait
// This part belongs to nobody if the three above explain at least half of the gap: without them, the host would have launched soon after the wait.
// The rest belongs to what the host did then:
//   blocking_copy       the time in the call of a copy to the device that blocks
//   launches            the causes launch and queued of device_gaps.h
//   host_late, unexplained   these causes
//
// Idle time between an optimizer's small kernels (optimizer_kernels.h) belongs to `optimizer` instead of launches and host_late. It goes
// back to these for ranks on which the optimizer is no finding.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cli/answers/rules/host_activity.h"
#include "cli/answers/rules/late_allocations.h"
#include "cli/answers/rules/optimizer_kernels.h"
#include "cli/answers/tables/device_gaps.h"

namespace cli {

// What idle time of a device can belong to (gap_claims.h).
enum class GapOwner : std::uint8_t { garbage_collection, allocation, data_loading, blocking_copy, host_sync, optimizer, launches, host_late, unexplained, count_ };
inline constexpr std::size_t kGapOwners = static_cast<std::size_t>(GapOwner::count_);

struct ClaimedGap;
class GapClaims;

// A copy from memory of the host that is not pinned.
bool is_from_pageable(const GpuWork& work);

// Part of a gap, in one window, that belongs to one owner. During Rule::claimed().
struct ClaimedGap {
  const DeviceGap& gap;
  GapOwner owner;
  std::int64_t from_ns, to_ns;  // the gap as far as it lies in the window, without what something else that held the host explains
  std::int64_t ns;              // of it, the owner's
  bool if_no_optimizer;         // counts only for ranks on which the optimizer is no finding
  const HostActivity& activity;
};

class GapClaims {
 public:
  explicit GapClaims(const AnalysisContext& context)
      : context_(context), activity_(context.catalog), names_(context.catalog.strings), allocations_(context), optimizers_(context) {}
  static ObserverNeeds needs() { return {.kinds = HostActivity::kinds(), .any_time = true, .gaps = true}; }

  void event(const Event& event);
  void work(const GpuWork& work);
  void end_of(ProcessId process);  // TraceObserver::end_of()
  // Calls `on_claim` with each claim on the gap. Skips gaps without work after them, and gaps before the first work unless steps are
  // diagnosed: then the step that launched the work began before it.
  template <typename OnClaim>
  void gap(const DeviceGap& gap, OnClaim&& on_claim) {
    if (gap.next == nullptr || (gap.from_ns == kEarliest_ns && !context_.windows.are_steps())) return;
    const auto& windows = context_.windows.of(gap.process);
    for (std::size_t i = context_.windows.first_after(gap.process, gap.from_ns); i < windows.size() && windows[i].from_ns < gap.to_ns; ++i) {
      const std::int64_t from_ns = std::max(gap.from_ns, windows[i].from_ns), to_ns = std::min(gap.to_ns, windows[i].to_ns);
      claim(gap, from_ns, to_ns);
      for (std::size_t owner = 0; owner < kGapOwners; ++owner) {
        for (const bool if_no_optimizer : {false, true}) {
          const std::int64_t ns = (if_no_optimizer ? without_optimizer_ns_ : ns_)[owner];
          const Span span = span_of(static_cast<GapOwner>(owner), from_ns, to_ns);
          if (ns > 0) on_claim(ClaimedGap{gap, static_cast<GapOwner>(owner), span.from_ns, span.to_ns, ns, if_no_optimizer, activity_});
        }
      }
    }
  }
  // Whether this is a small kernel of an optimizer, launched for one parameter.
  bool is_optimizer_kernel(const GpuWork& work) { return optimizers_.has(work); }
  // Whether this is a copy to the device for which the host waits: from pageable memory, or by a call that blocks.
  bool blocks_to_device(const GpuWork& work);
  // The host's activity up to the newest event.
  const HostActivity& activity() const { return activity_; }

 private:
  using Times = std::array<std::int64_t, kGapOwners>;
  struct Span {
    std::int64_t from_ns, to_ns;
  };

  void claim(const DeviceGap& gap, std::int64_t from_ns, std::int64_t to_ns);
  void claim_span(GapOwner owner, std::int64_t from_ns, std::int64_t to_ns);
  // What held the host when the device went idle, and the end of the part of the gap that it explains.
  struct Holder {
    std::optional<GapOwner> owner;
    std::int64_t to_ns;
  };
  Holder holder_of(const DeviceGap& gap) const;
  // Where in a gap the owner's time lies.
  Span span_of(GapOwner owner, std::int64_t from_ns, std::int64_t to_ns) const;

  const AnalysisContext& context_;
  HostActivity activity_;
  NameClasses names_;
  LateAllocations allocations_;
  OptimizerKernels optimizers_;
  std::map<std::pair<ProcessId, std::int64_t>, bool> after_optimizer_;  // by device: its newest work was such a kernel
  // Of the gap at hand:
  Times ns_{}, without_optimizer_ns_{};
  std::vector<Span> taken_;
  Holder holder_{};
};

}  // namespace cli
