#include "cli/show/report/memory_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cli/answers/memory/timeline.h"
#include "cli/base/text.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/fills.h"

namespace cli::report {
namespace {

using memory::BytesByCategory;
using memory::Category;

constexpr std::size_t kColumns = 600;
constexpr double kAboveChart = 10, kHeight = 260, kAxisHeight = 34;  // pixels

struct Layer {
  Category category;
  Fill fill;
};
// Layers from the bottom to the top of the chart. Categories that are kept longest are at the bottom.
constexpr std::array<Layer, memory::kCategories> kLayers{{{Category::unknown, Fill::other},
                                                          {Category::parameter, Fill::compute},
                                                          {Category::optimizer_state, Fill::optimizer},
                                                          {Category::gradient, Fill::backward},
                                                          {Category::activation, Fill::communication},
                                                          {Category::temporary, Fill::memory}}};

std::uint64_t bytes_of(const BytesByCategory& bytes) {
  std::uint64_t sum = 0;
  for (const std::uint64_t each : bytes) sum += each;
  return sum;
}

// Returns memory over time in kColumns columns. Each column shows its moment with the most memory, so that no peak is
// lost.
std::vector<BytesByCategory> columns_of(const memory::Input& input, const memory::DeviceMemory& device) {
  std::vector<BytesByCategory> columns(kColumns);
  std::vector<bool> filled(kColumns);
  const bool has_times = device.first_time_us != snapshot::kNoTime && device.last_time_us > device.first_time_us;
  const double first = has_times ? static_cast<double>(device.first_time_us) : 0;
  const double last = has_times ? static_cast<double>(device.last_time_us) : static_cast<double>(device.states);
  std::size_t column = 0;
  BytesByCategory before{};  // the newest state
  memory::walk_timeline(
      input.snapshot, device.device, [&](std::size_t state, std::int64_t time_us, const BytesByCategory& bytes) {
        const double at = has_times ? static_cast<double>(time_us) : static_cast<double>(state);
        const double share = last > first ? (at - first) / (last - first) : 0;
        const auto to = std::min(kColumns - 1, static_cast<std::size_t>(std::max(0.0, share) * kColumns));
        for (; column < to; ++column) {
          if (!filled[column + 1]) columns[column + 1] = before, filled[column + 1] = true;
        }
        if (!filled[to] || bytes_of(bytes) > bytes_of(columns[to])) columns[to] = bytes, filled[to] = true;
        before = bytes;
      });
  for (; column + 1 < kColumns; ++column) {
    if (!filled[column + 1]) columns[column + 1] = before;
  }
  return columns;
}

// Returns the outline of one layer in a box of kColumns x 1000.
std::string layer_path(const std::vector<BytesByCategory>& columns, std::size_t layer, double most) {
  std::string above, below;
  for (std::size_t x = 0; x < columns.size(); ++x) {
    std::uint64_t low = 0;
    for (std::size_t i = 0; i < layer; ++i) low += columns[x][static_cast<std::size_t>(kLayers[i].category)];
    const std::uint64_t high = low + columns[x][static_cast<std::size_t>(kLayers[layer].category)];
    const auto y = [&](std::uint64_t bytes) { return coordinate(1000 - 1000 * static_cast<double>(bytes) / most); };
    above += fmt::format("L{} {}L{} {}", x, y(high), x + 1, y(high));
    below.insert(0, fmt::format("L{} {}L{} {}", x + 1, y(low), x, y(low)));
  }
  above[0] = 'M';
  return above + below + "Z";
}

}  // namespace

void write_memory_chart(Html& page, const memory::Input& input, const memory::DeviceMemory& device) {
  const std::vector<BytesByCategory> columns = columns_of(input, device);
  std::uint64_t largest = 0;
  BytesByCategory most{};
  for (const BytesByCategory& column : columns) {
    largest = std::max(largest, bytes_of(column));
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], column[i]);
  }
  if (largest == 0) return;
  const Axis axis = axis_for(static_cast<double>(largest), Unit::bytes);
  const Element in_figure(page, "figure");
  {
    const Element in_p(page, "p", {{"class", "legend"}});
    for (auto layer = kLayers.rbegin(); layer != kLayers.rend(); ++layer) {
      if (most[static_cast<std::size_t>(layer->category)] == 0) continue;
      page.open("span");
      write_swatch(page, layer->fill);
      page.text(layer->category == Category::unknown ? " before the history, or unknown"
                                                     : fmt::format(" {}", category_name(layer->category)));
      page.close("span");
      page.text(" ");
    }
  }
  open_chart(page,
             {"Memory in use over time", "Areas from the bottom: memory by category. The table below has the peak.",
              kAboveChart + kHeight + kAxisHeight, 8});
  for (const double tick : axis.ticks) {
    const double y = kAboveChart + kHeight - kHeight * tick / axis.most;
    page.empty("line", {{"class", "grid"}, {"x1", 0}, {"x2", "100%"}, {"y1", y}, {"y2", y}});
    page.element("text", {{"class", "tick"}, {"x", -6}, {"y", y + 4}, {"text-anchor", "end"}},
                 axis.tick_text(tick) + " " + axis.unit);
  }
  page.open("svg", {{"x", 0},
                    {"y", kAboveChart},
                    {"width", "100%"},
                    {"height", kHeight},
                    {"viewBox", fmt::format("0 0 {} 1000", kColumns)},
                    {"preserveAspectRatio", "none"}});
  for (std::size_t layer = 0; layer < kLayers.size(); ++layer) {
    if (most[static_cast<std::size_t>(kLayers[layer].category)] == 0) continue;
    page.empty("path", {{"class", colour_of(kLayers[layer].fill)}, {"d", layer_path(columns, layer, axis.most)}});
  }
  page.close("svg");
  const bool has_times = device.first_time_us != snapshot::kNoTime;
  const std::string end = has_times ? duration_text((device.last_time_us - device.first_time_us) * 1000)
                                    : fmt::format("{} entries", device.states);
  page.element("text", {{"class", "tick"}, {"x", 0}, {"y", kAboveChart + kHeight + 18}}, "start of the history");
  page.element("text", {{"class", "tick"}, {"x", "100%"}, {"y", kAboveChart + kHeight + 18}, {"text-anchor", "end"}},
               end);
  close_chart(page);
}

}  // namespace cli::report
