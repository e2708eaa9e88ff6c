#include "cli/show/report/memory_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/memory/timeline.h"
#include "cli/base/text.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/fills.h"

namespace cli::report {
namespace {

using memory::Category;

constexpr std::size_t kColumns = 600;
constexpr double kAboveChart = 10, kHeight = 260, kAxisHeight = 34;  // pixels

struct Layer {
  std::string name;
  Fill fill;
};

// Returns the layers for a chart by category. Categories that are kept longest are at the bottom.
std::vector<Layer> category_layers() {
  const auto layer = [](Category category, Fill fill) { return Layer{std::string(category_name(category)), fill}; };
  return {{std::string(memory::kBeforeText), Fill::idle}, layer(Category::unknown, Fill::other),
          layer(Category::parameter, Fill::compute),      layer(Category::optimizer_state, Fill::optimizer),
          layer(Category::gradient, Fill::backward),      layer(Category::activation, Fill::communication),
          layer(Category::temporary, Fill::memory)};
}

// Returns a layer for each of the groups that hold the most memory at the peak, the largest at the bottom, and one for
// all other groups at the top.
std::vector<Layer> largest_layers(const memory::Input& input, const memory::DeviceMemory& device, memory::GroupBy by) {
  static constexpr std::array kFills{Fill::compute, Fill::optimizer, Fill::backward, Fill::communication,
                                     Fill::memory,  Fill::matmul,    Fill::exposed};
  std::map<std::string, std::uint64_t> bytes;
  memory::GroupNames names(input.snapshot, device.device, by);
  for (const memory::LiveBlock& block : device.peak_blocks) bytes[names.of(block)] += block.bytes;
  std::vector<std::pair<std::string, std::uint64_t>> groups(bytes.begin(), bytes.end());
  std::ranges::stable_sort(groups, std::greater(), [](const auto& group) { return group.second; });
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < std::min(groups.size(), kFills.size()); ++i) {
    const std::string& name = groups[i].first;
    layers.push_back({name, name == memory::kBeforeText ? Fill::idle : kFills[i]});
  }
  layers.push_back({"all others", Fill::other});
  return layers;
}

using Column = std::vector<std::uint64_t>;  // bytes by layer

std::uint64_t bytes_of(const Column& column) { return std::accumulate(column.begin(), column.end(), std::uint64_t{0}); }

// Returns memory over time in kColumns columns. Each column shows its moment with the most memory, so that no peak is
// lost. The last layer contains the groups without a layer.
std::vector<Column> columns_of(const memory::Input& input, const memory::DeviceMemory& device, memory::GroupBy by,
                               const std::vector<Layer>& layers) {
  std::map<std::string, std::size_t> layer_by_name;
  for (std::size_t i = 0; i < layers.size(); ++i) layer_by_name.emplace(layers[i].name, i);
  memory::GroupNames names(input.snapshot, device.device, by);
  const auto layer_of = [&](const memory::LiveBlock& block) {
    const auto found = layer_by_name.find(names.of(block));
    return found == layer_by_name.end() ? layers.size() - 1 : found->second;
  };
  std::vector<Column> columns(kColumns, Column(layers.size()));
  std::vector<bool> filled(kColumns);
  const bool has_times = device.first_time_us != snapshot::kNoTime && device.last_time_us > device.first_time_us;
  const double first = has_times ? static_cast<double>(device.first_time_us) : 0;
  const double last = has_times ? static_cast<double>(device.last_time_us) : static_cast<double>(device.states);
  std::size_t column = 0;
  Column before(layers.size());  // the newest state
  memory::walk_groups(
      input.snapshot, device.device, layers.size(), layer_of,
      [&](std::size_t state, std::int64_t time_us, std::span<const std::uint64_t> bytes) {
        const double at = has_times ? static_cast<double>(time_us) : static_cast<double>(state);
        const double share = last > first ? (at - first) / (last - first) : 0;
        const auto to = std::min(kColumns - 1, static_cast<std::size_t>(std::max(0.0, share) * kColumns));
        for (; column < to; ++column) {
          if (!filled[column + 1]) columns[column + 1] = before, filled[column + 1] = true;
        }
        before.assign(bytes.begin(), bytes.end());
        if (!filled[to] || bytes_of(before) > bytes_of(columns[to])) columns[to] = before, filled[to] = true;
      },
      by == memory::GroupBy::category);
  for (; column + 1 < kColumns; ++column) {
    if (!filled[column + 1]) columns[column + 1] = before;
  }
  return columns;
}

// Returns the outline of one layer in a box of kColumns x 1000.
std::string layer_path(const std::vector<Column>& columns, std::size_t layer, double most) {
  std::string above, below;
  for (std::size_t x = 0; x < columns.size(); ++x) {
    const auto from = columns[x].begin();
    const std::uint64_t low = std::accumulate(from, from + static_cast<std::ptrdiff_t>(layer), std::uint64_t{0});
    const std::uint64_t high = low + columns[x][layer];
    const auto y = [&](std::uint64_t bytes) { return coordinate(1000 - 1000 * static_cast<double>(bytes) / most); };
    above += fmt::format("L{} {}L{} {}", x, y(high), x + 1, y(high));
    below.insert(0, fmt::format("L{} {}L{} {}", x + 1, y(low), x, y(low)));
  }
  above[0] = 'M';
  return above + below + "Z";
}

}  // namespace

void write_memory_chart(Html& page, const memory::Input& input, const memory::DeviceMemory& device,
                        memory::GroupBy by) {
  const std::vector<Layer> layers =
      by == memory::GroupBy::category ? category_layers() : largest_layers(input, device, by);
  const std::vector<Column> columns = columns_of(input, device, by, layers);
  std::uint64_t largest = 0;
  Column most(layers.size());
  for (const Column& column : columns) {
    largest = std::max(largest, bytes_of(column));
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], column[i]);
  }
  if (largest == 0) return;
  const Axis axis = axis_for(static_cast<double>(largest), Unit::bytes);
  const Element in_figure(page, "figure");
  {
    const Element in_p(page, "p", {{"class", "legend"}});
    for (std::size_t i = layers.size(); i-- > 0;) {
      if (most[i] == 0) continue;
      page.open("span");
      write_swatch(page, layers[i].fill);
      page.text(" " + layers[i].name);
      page.close("span");
      page.text(" ");
    }
  }
  open_chart(page, {fmt::format("Memory in use over time by {}", memory::group_word(by)),
                    "The areas add up to the memory in use. The table below has the values at the peak.",
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
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (most[i] != 0)
      page.empty("path", {{"class", colour_of(layers[i].fill)}, {"d", layer_path(columns, i, axis.most)}});
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
