#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "cli/analyze/table_reading.h"
#include "cli/io/units.h"
#include "cli/report/bar_chart.h"
#include "cli/report/waits.h"

namespace cli {
namespace {

constexpr std::size_t kMostColumns = 8;
constexpr double kMatrixWidth = 720, kMatrixTop = 40, kFieldHeight = 20, kRankWidth = 150, kMostField = 140;
constexpr int kShades = 5;

std::string communicator_text(const TableReading& waits, std::size_t row) {
  std::string text = waits.get<std::string>(row, "communicator").value_or("unnamed");
  if (const auto description = waits.get<std::string>(row, "description")) text += " " + *description;
  if (const auto epoch = waits.get<std::int64_t>(row, "epoch"); epoch && *epoch > 1) text += fmt::format(" ({})", *epoch);
  return text;
}

std::string rank_text(const TableReading& waits, std::size_t row) {
  const auto phase = waits.get<std::string>(row, "phase");
  return waits.rank(row) + (phase ? " " + *phase : "");
}

// As many columns as fit; those in which most was waited. What is left is summed into one.
struct Matrix {
  std::vector<std::string> columns;
  std::vector<Bar> rows;  // of ranks: a value for each column
  bool has_all_ranks = true;
};

double sum_of(const Bar& row) { return std::accumulate(row.values.begin(), row.values.end(), 0.0); }

// Of many ranks those that waited least, for whom the others wait, in their order; and the mean of the others.
std::vector<Bar> least_waiting(std::vector<Bar> ranks) {
  if (ranks.size() <= kMostBars) return ranks;
  std::vector<double> sums;
  for (const Bar& rank : ranks) sums.push_back(sum_of(rank));
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sums[a] < sums[b]; });
  std::sort(order.begin(), order.begin() + (kMostBars - 1));
  std::vector<Bar> rows;
  for (std::size_t i = 0; i + 1 < kMostBars; ++i) rows.push_back(std::move(ranks[order[i]]));
  const std::size_t others = order.size() - rows.size();
  Bar mean{fmt::format("mean of {} others", others), std::vector<double>(rows.front().values.size())};
  for (std::size_t i = kMostBars - 1; i < order.size(); ++i) {
    for (std::size_t column = 0; column < mean.values.size(); ++column) mean.values[column] += ranks[order[i]].values[column] / static_cast<double>(others);
  }
  rows.push_back(std::move(mean));
  return rows;
}

Matrix matrix_of(const TableReading& waits) {
  std::map<std::string, double> sums;
  for (std::size_t row = 0; row < waits.rows(); ++row) sums[communicator_text(waits, row)] += static_cast<double>(waits.number(row, "wait_ns"));
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [text, sum] : sums) order.emplace_back(sum, text);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Matrix matrix;
  std::map<std::string, std::size_t> place;
  for (const auto& [sum, text] : order) {
    place[text] = std::min(matrix.columns.size(), kMostColumns - 1);
    if (matrix.columns.size() < kMostColumns) matrix.columns.push_back(text);
  }
  if (order.size() > kMostColumns) matrix.columns.back() = fmt::format("{} others", order.size() - kMostColumns + 1);
  std::vector<Bar> ranks;
  for (std::size_t row = 0; row < waits.rows(); ++row) {
    const std::string label = rank_text(waits, row);
    if (ranks.empty() || ranks.back().label != label) ranks.push_back({label, std::vector<double>(matrix.columns.size()), -1});
    ranks.back().values[place[communicator_text(waits, row)]] += static_cast<double>(waits.number(row, "wait_ns"));
  }
  matrix.has_all_ranks = ranks.size() <= kMostBars;
  matrix.rows = least_waiting(std::move(ranks));
  return matrix;
}

// 0 for none, up to kShades for the most.
int shade_of(double value, double most) { return value <= 0 || most <= 0 ? 0 : std::clamp(static_cast<int>(value / most * kShades) + 1, 1, kShades); }

void draw_field(Html& page, const std::string& what, double value, double most, double x, double y, double width) {
  const std::string text = duration_text(static_cast<std::int64_t>(value));
  const int shade = shade_of(value, most);
  page.open("g");
  page.element("title", what + ": " + text);
  page.empty("rect", {{"class", fmt::format("field shade-{}", shade)}, {"x", x}, {"y", y}, {"width", width}, {"height", kFieldHeight - 2}});
  page.element("text", {{"class", shade > 2 ? "on-dark" : "on-light"}, {"x", x + width / 2}, {"y", y + kFieldHeight - 6}, {"text-anchor", "middle"}}, text);
  page.close("g");
}

// Its end, in which names of communicators differ.
std::string cut_label(const std::string& label, double width) {
  const auto most = std::max<std::size_t>(4, static_cast<std::size_t>(width / 7.2));
  if (label.size() <= most) return label;
  std::size_t from = label.size() - (most - 3);
  while (from < label.size() && (static_cast<unsigned char>(label[from]) & 0xc0) == 0x80) ++from;  // not within a character
  return "..." + label.substr(from);
}

}  // namespace

void write_wait_matrix(Html& page, const ResultTable& waits) {
  const std::vector<ResultTable> one{waits};
  const Matrix matrix = matrix_of(TableReading(one, waits.name));
  double most = 0;
  for (const Bar& row : matrix.rows) most = std::max(most, *std::max_element(row.values.begin(), row.values.end()));
  const double width = std::min(kMostField, (kMatrixWidth - kRankWidth) / static_cast<double>(matrix.columns.size()));
  page.open("figure");
  if (!matrix.has_all_ranks) page.element("p", {{"class", "caption"}}, "The ranks that waited least, for whom the others wait; the table has all.");
  page.open("div", {{"class", "wide"}});
  page.open("svg", {{"class", "chart"}, {"viewBox", fmt::format("0 0 {} {}", coordinate(kMatrixWidth), coordinate(kMatrixTop + kFieldHeight * static_cast<double>(matrix.rows.size()) + 4))}, {"role", "img"}});
  page.element("title", "How long each rank waited in each communicator");
  page.element("desc", "A row for each rank, a column for each communicator. In a field stands how long the rank waited for the last one to begin; darker is longer. The rank that "
                       "others wait for has the lightest fields.");
  page.element("text", {{"class", "tick"}, {"x", kRankWidth}, {"y", 14}}, "time waited, by communicator");
  for (std::size_t i = 0; i < matrix.columns.size(); ++i) {
    page.open("g");
    page.element("title", matrix.columns[i]);
    page.element("text", {{"class", "tick"}, {"x", kRankWidth + width * (static_cast<double>(i) + 0.5)}, {"y", kMatrixTop - 8}, {"text-anchor", "middle"}}, cut_label(matrix.columns[i], width));
    page.close("g");
  }
  double y = kMatrixTop;
  for (const Bar& row : matrix.rows) {
    page.element("text", {{"x", kRankWidth - 6}, {"y", y + kFieldHeight - 6}, {"text-anchor", "end"}}, cut_label(row.label, kRankWidth + 40));
    for (std::size_t i = 0; i < row.values.size(); ++i) draw_field(page, row.label + ", " + matrix.columns[i], row.values[i], most, kRankWidth + width * static_cast<double>(i), y, width - 2);
    y += kFieldHeight;
  }
  page.close("svg");
  page.close("div");
  page.close("figure");
}

}  // namespace cli
