#include "cli/show/report/rank_bars.h"

#include <fmt/format.h>

namespace cli {
namespace {

// A process of a training has one GPU; of another one this has to be told.
bool is_alone(const TableReading& gpus, std::size_t row) {
  const auto same = [&](std::size_t other) { return other < gpus.rows() && gpus.get<std::int64_t>(other, "rank") == gpus.get<std::int64_t>(row, "rank"); };
  return !same(row + 1) && (row == 0 || !same(row - 1));
}

}  // namespace

std::string gpu_label(const TableReading& gpus, std::size_t row) {
  std::string label = gpus.rank(row);
  if (const auto phase = gpus.get<std::string>(row, "phase")) label += " " + *phase;
  const auto device = gpus.get<std::int64_t>(row, "device");
  return device && !is_alone(gpus, row) ? fmt::format("{} GPU {}", label, *device) : label;
}

std::vector<Bar> gpu_bars(const TableReading& gpus, const std::function<std::vector<double>(std::size_t row)>& values) {
  std::vector<Bar> bars;
  for (std::size_t row = 0; row < gpus.rows(); ++row) bars.push_back({gpu_label(gpus, row), values(row), gpus.get<std::int64_t>(row, "rank").value_or(-1)});
  return grouped(std::move(bars));
}

std::string grouping_text(std::size_t rows) {
  const std::size_t each = (rows + kMostBars - 1) / kMostBars;
  return rows <= kMostBars ? "" : fmt::format("Each bar is the mean of {} neighboring GPUs; the table lists every GPU.", each);
}

}  // namespace cli
