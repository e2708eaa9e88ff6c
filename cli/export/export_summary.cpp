#include <array>

#include "cli/export/exporter.h"

namespace cli {
namespace {

constexpr std::array kCounts{
    &ExportSummary::events_in,      &ExportSummary::slices_out,       &ExportSummary::instants_out,
    &ExportSummary::counters_out,   &ExportSummary::flow_events_in,   &ExportSummary::one_ended_flows,
    &ExportSummary::unplaced_flows, &ExportSummary::undrawable_flows, &ExportSummary::flow_events_drawn,
    &ExportSummary::arrows_out,     &ExportSummary::backward_arrows,  &ExportSummary::works_without_launch,
    &ExportSummary::unfinished,     &ExportSummary::extra_lanes,      &ExportSummary::derived_slices,
    &ExportSummary::derived_values};
static_assert(sizeof(ExportSummary) == kCounts.size() * sizeof(std::uint64_t), "a count is missing here");

}  // namespace

ExportSummary& ExportSummary::operator+=(const ExportSummary& other) {
  for (const auto count : kCounts) this->*count += other.*count;
  return *this;
}

}  // namespace cli
