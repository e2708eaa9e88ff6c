#include "cli/formats/export/exporter.h"

#include <algorithm>
#include <array>

namespace cli {

void Census::count(const Event& event) {
  if (event.kind == Kind::flow) return;
  first_ns_ = std::min(first_ns_, event.start_ns);
  last_ns_ = std::max(last_ns_, slice_end(event, event.start_ns));
  OfTrack& track = tracks[event.track];
  track.seen = true;
  if (event.kind == Kind::kernel) ++(names_[event.name].communicates ? track.nccl_kernels : track.kernels);
  OfProcess& process = processes[catalog_->tracks[event.track].process];
  if (!process.seen || event.start_ns < process.first_ns) process.first_ns = event.start_ns;
  process.seen = true;
}

namespace {

constexpr std::array kCounts{
    &ExportSummary::events_in,      &ExportSummary::slices_out,       &ExportSummary::instants_out,
    &ExportSummary::counters_out,   &ExportSummary::flow_events_in,   &ExportSummary::one_ended_flows,
    &ExportSummary::unplaced_flows, &ExportSummary::undrawable_flows, &ExportSummary::flow_events_drawn,
    &ExportSummary::flows_out,      &ExportSummary::backward_flows,   &ExportSummary::works_without_launch,
    &ExportSummary::unfinished,     &ExportSummary::extra_lanes,      &ExportSummary::derived_slices,
    &ExportSummary::derived_values, &ExportSummary::collective_flows, &ExportSummary::joined_ends,
    &ExportSummary::unjoined_calls};
static_assert(sizeof(ExportSummary) == kCounts.size() * sizeof(std::uint64_t), "a count is missing here");

}  // namespace

ExportSummary& ExportSummary::operator+=(const ExportSummary& other) {
  for (const auto count : kCounts) this->*count += other.*count;
  return *this;
}

}  // namespace cli
