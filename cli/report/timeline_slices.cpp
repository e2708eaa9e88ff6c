#include "cli/report/timeline_slices.h"

#include <fmt/format.h>

#include "cli/analyze/median.h"
#include "cli/io/units.h"

namespace cli {

void TimelineSlices::add(const TimelineSlice& slice) {
  Floor& floor = floor_of(slice);
  if (slice.end_ns - slice.start_ns < floor.shortest_ns) {
    ++floor.left_out;
    return;
  }
  slices_.push_back(slice);
  if (slices_.size() > most_) thin();
}

// The shorter half of the host's, or, where they are less than a quarter of all, of the GPUs'.
void TimelineSlices::thin() {
  std::vector<std::int64_t> host, gpu;
  for (const TimelineSlice& slice : slices_) (is_gpu_work(slice.kind) ? gpu : host).push_back(slice.end_ns - slice.start_ns);
  const bool of_gpu = host.size() < slices_.size() / 4;
  Floor& floor = of_gpu ? gpu_ : host_;
  floor.shortest_ns = median(of_gpu ? gpu : host) + 1;
  floor.left_out += std::erase_if(slices_, [&](const TimelineSlice& slice) { return is_gpu_work(slice.kind) == of_gpu && slice.end_ns - slice.start_ns < floor.shortest_ns; });
}

std::vector<std::string> TimelineSlices::left_out() const {
  std::vector<std::string> lines;
  if (host_.left_out > 0) lines.push_back(fmt::format("{} shorter than {}", count_text(host_.left_out, "slice of the host", "slices of the host"), duration_text(host_.shortest_ns)));
  if (gpu_.left_out > 0) lines.push_back(fmt::format("{} shorter than {}", count_text(gpu_.left_out, "kernel or copy", "kernels and copies"), duration_text(gpu_.shortest_ns)));
  return lines;
}

}  // namespace cli
