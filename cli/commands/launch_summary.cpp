#include "cli/commands/launch_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cli {

LaunchSummary launch_summary(const Catalog& catalog) {
  LaunchSummary summary;
  summary.configurations = catalog.launches.size() - 1;  // id 0 says nothing
  for (const Launch& launch : catalog.launches.all()) {
    summary.cooperative += launch.launch_type != 0;
    summary.clustered += launch.has_cluster();
    summary.most_cluster_blocks = std::max(
        summary.most_cluster_blocks, std::uint64_t{launch.cluster[0]} * launch.cluster[1] * launch.cluster[2]);
    summary.most_local_bytes_per_thread = std::max(summary.most_local_bytes_per_thread, launch.local_bytes_per_thread);
  }
  for (const Track& track : catalog.tracks) {
    if (track.kind == TrackKind::stream && track.priority) summary.priorities.insert(*track.priority);
  }
  return summary;
}

std::string text_of(const LaunchSummary& s) {
  if (s.configurations == 0) return {};
  std::string text = fmt::format("kernels: {} launch configuration{}", s.configurations, s.configurations == 1 ? "" : "s");
  if (s.cooperative > 0) text += fmt::format(", {} cooperative", s.cooperative);
  if (s.clustered > 0) text += fmt::format(", {} in clusters of up to {} blocks", s.clustered, s.most_cluster_blocks);
  if (s.most_local_bytes_per_thread > 0) {
    text += fmt::format(", local memory of up to {} bytes per thread", s.most_local_bytes_per_thread);
  }
  if (s.priorities.size() < 2) return text + '\n';
  const char* before = "; streams of priority ";
  for (const std::int64_t priority : s.priorities) text += std::exchange(before, ", ") + std::to_string(priority);
  return text + '\n';
}

}  // namespace cli
