#include "cli/formats/export/exporter.h"

#include <array>

namespace cli {

namespace {

constexpr std::array kCounts{
    &ExportSummary::events_in,      &ExportSummary::slices_out,       &ExportSummary::instants_out,
    &ExportSummary::counters_out,   &ExportSummary::flow_events_in,   &ExportSummary::one_ended_flows,
    &ExportSummary::unplaced_flows, &ExportSummary::undrawable_flows, &ExportSummary::flow_events_drawn,
    &ExportSummary::flows_out,     &ExportSummary::backward_flows,  &ExportSummary::works_without_launch,
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
