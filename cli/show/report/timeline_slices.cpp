#include "cli/show/report/timeline_slices.h"

#include <fmt/format.h>

#include <utility>

#include "cli/answers/tables/percentile.h"
#include "cli/base/text.h"

namespace cli {

namespace {

std::int64_t length_of(const TimelineSlice& slice) { return slice.end_ns - slice.start_ns; }

}  // namespace

void TimelineSlices::add(const TimelineSlice& slice) {
  if (!keeps(floor_of(slice), length_of(slice))) return;
  slices_.push_back(slice);
  if (slices_.size() > most_) thin();
}

bool TimelineSlices::keeps(Floor& floor, std::int64_t length_ns) {
  if (length_ns < floor.shortest_ns) {
    ++floor.left_out;
    return false;
  }
  if (length_ns > floor.shortest_ns || floor.one_in == 1 || draw_() % floor.one_in == 0) return true;
  ++floor.as_long_left_out;
  return false;
}

// The shorter half of the host's, or, where they are less than a quarter of all, of the GPUs'. Where few are shorter than the median, many are as long as it.
void TimelineSlices::thin() {
  std::vector<std::int64_t> host, gpu;
  for (const TimelineSlice& slice : slices_) (is_gpu_work(slice.kind) ? gpu : host).push_back(length_of(slice));
  const bool of_gpu = host.size() < slices_.size() / 4;
  Floor& floor = of_gpu ? gpu_ : host_;
  const std::size_t before = slices_.size(), few = (of_gpu ? gpu : host).size() / 4;
  raise(floor, of_gpu, median(of_gpu ? gpu : host));
  if (before - slices_.size() <= few) halve(floor, of_gpu);
}

void TimelineSlices::raise(Floor& floor, bool of_gpu, std::int64_t shortest_ns) {
  if (shortest_ns == floor.shortest_ns) return;
  floor.left_out += std::exchange(floor.as_long_left_out, 0);
  floor.one_in = 1;
  floor.shortest_ns = shortest_ns;
  floor.left_out += std::erase_if(slices_, [&](const TimelineSlice& slice) { return is_gpu_work(slice.kind) == of_gpu && length_of(slice) < shortest_ns; });
}

void TimelineSlices::halve(Floor& floor, bool of_gpu) {
  floor.one_in *= 2;
  floor.as_long_left_out +=
      std::erase_if(slices_, [&](const TimelineSlice& slice) { return is_gpu_work(slice.kind) == of_gpu && length_of(slice) == floor.shortest_ns && draw_() % 2 == 0; });
}

std::vector<std::string> TimelineSlices::left_out() const {
  std::vector<std::string> lines;
  const auto add = [&](const Floor& floor, std::string_view one, std::string_view many) {
    const std::string length = duration_text(floor.shortest_ns);
    if (floor.left_out > 0) lines.push_back(fmt::format("{} shorter than {}", count_text(floor.left_out, one, many), length));
    if (floor.as_long_left_out > 0) lines.push_back(fmt::format("{} of length {} (about 1 in {} is kept)", count_text(floor.as_long_left_out, one, many), length, floor.one_in));
  };
  add(host_, "host slice", "host slices");
  add(gpu_, "kernel or copy", "kernels and copies");
  return lines;
}

}  // namespace cli
