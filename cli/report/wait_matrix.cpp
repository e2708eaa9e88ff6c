#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "cli/analyze/table_reading.h"
#include "cli/io/units.h"
#include "cli/report/axis.h"
#include "cli/report/bar_chart.h"
#include "cli/report/waits.h"

namespace cli {
namespace {

constexpr std::size_t kMostColumns = 6;
constexpr double kMatrixWidth = 480, kMatrixTop = 40, kFieldHeight = 20, kRankWidth = 120, kMostField = 120;
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

// Of a rank: what it waited in each column; nothing where it is in none of its communicators.
struct MatrixRow {
  std::string label;
  std::vector<std::optional<std::int64_t>> waits_ns;

  std::int64_t sum_ns() const {
    return std::accumulate(waits_ns.begin(), waits_ns.end(), std::int64_t{0}, [](std::int64_t sum, const auto& wait_ns) { return sum + wait_ns.value_or(0); });
  }
};

// As many columns as fit; those in which most was waited. What is left is summed into one.
struct Matrix {
  std::vector<std::string> columns;
  std::vector<MatrixRow> rows;
  bool has_all_ranks = true;
};

// Of those that have a value.
MatrixRow mean_of(const std::vector<MatrixRow>& rows, std::size_t columns) {
  MatrixRow mean{fmt::format("mean of {} others", rows.size()), {}};
  for (std::size_t column = 0; column < columns; ++column) {
    std::int64_t sum_ns = 0, count = 0;
    for (const MatrixRow& row : rows) {
      if (!row.waits_ns[column]) continue;
      sum_ns += *row.waits_ns[column];
      ++count;
    }
    mean.waits_ns.push_back(count == 0 ? std::nullopt : std::optional(sum_ns / count));
  }
  return mean;
}

// Of many ranks those that waited least, for whom the others wait, in their order; and the mean of the others.
std::vector<MatrixRow> least_waiting(std::vector<MatrixRow> ranks) {
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ranks[a].sum_ns() < ranks[b].sum_ns(); });
  std::sort(order.begin(), order.begin() + (kMostBars - 1));
  std::vector<MatrixRow> rows, others;
  for (std::size_t i = 0; i < order.size(); ++i) (i + 1 < kMostBars ? rows : others).push_back(std::move(ranks[order[i]]));
  rows.push_back(mean_of(others, rows.front().waits_ns.size()));
  return rows;
}

// The column of each communicator; names the columns.
std::map<std::string, std::size_t> columns_of(const TableReading& waits, std::vector<std::string>& columns) {
  std::map<std::string, std::int64_t> sums;
  for (std::size_t row = 0; row < waits.rows(); ++row) sums[communicator_text(waits, row)] += waits.number(row, "wait_ns");
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [text, sum_ns] : sums) order.emplace_back(-sum_ns, text);
  std::sort(order.begin(), order.end());
  std::map<std::string, std::size_t> place;
  for (const auto& [sum_ns, text] : order) {
    place[text] = std::min(columns.size(), kMostColumns - 1);
    if (columns.size() < kMostColumns) columns.push_back(text);
  }
  if (order.size() > kMostColumns) columns.back() = fmt::format("{} others", order.size() - kMostColumns + 1);
  return place;
}

Matrix matrix_of(const TableReading& waits) {
  Matrix matrix;
  const auto place = columns_of(waits, matrix.columns);
  for (std::size_t row = 0; row < waits.rows(); ++row) {
    const std::string label = rank_text(waits, row);
    if (matrix.rows.empty() || matrix.rows.back().label != label) matrix.rows.push_back({label, std::vector<std::optional<std::int64_t>>(matrix.columns.size())});
    auto& wait_ns = matrix.rows.back().waits_ns[place.at(communicator_text(waits, row))];
    wait_ns = wait_ns.value_or(0) + waits.number(row, "wait_ns");
  }
  matrix.has_all_ranks = matrix.rows.size() <= kMostBars;
  if (!matrix.has_all_ranks) matrix.rows = least_waiting(std::move(matrix.rows));
  return matrix;
}

// 0 for none, up to kShades for the most.
int shade_of(std::int64_t wait_ns, std::int64_t most_ns) {
  return wait_ns <= 0 || most_ns <= 0 ? 0 : std::clamp(static_cast<int>(static_cast<double>(wait_ns) / static_cast<double>(most_ns) * kShades) + 1, 1, kShades);
}

// Names of communicators differ at their end.
std::string cut_label(const std::string& label, double width) { return label_end(label, std::max<std::size_t>(4, static_cast<std::size_t>(width / 6.6))); }

// Three digits that count.
std::string field_text(double value) { return value < 1000 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value); }

class MatrixDrawing {
 public:
  MatrixDrawing(Html& page, const Matrix& matrix) : page_(page), matrix_(matrix), most_ns_(most_of(matrix)), axis_(axis_for(static_cast<double>(most_ns_), Unit::ns)) {
    width_ = std::min(kMostField, (kMatrixWidth - kRankWidth) / static_cast<double>(matrix.columns.size()));
  }

  void draw() {
    const double height = kMatrixTop + kFieldHeight * static_cast<double>(matrix_.rows.size()) + 4;
    page_.open("svg", {{"class", "chart"}, {"viewBox", fmt::format("0 0 {} {}", coordinate(kMatrixWidth), coordinate(height))}, {"role", "img"}});
    page_.element("title", "How long each rank waited in each communicator");
    page_.element("desc", fmt::format("A row for each rank, a column for each communicator. In a field stands how long the rank waited for the last one to begin, in {}; darker is "
                                      "longer, and an empty field is of a rank that is not in the communicator. The rank that others wait for has the lightest fields.", axis_.unit));
    draw_head();
    for (std::size_t row = 0; row < matrix_.rows.size(); ++row) draw_row(matrix_.rows[row], kMatrixTop + kFieldHeight * static_cast<double>(row));
    page_.close("svg");
  }

 private:
  static std::int64_t most_of(const Matrix& matrix) {
    std::int64_t most_ns = 0;
    for (const MatrixRow& row : matrix.rows) {
      for (const auto& wait_ns : row.waits_ns) most_ns = std::max(most_ns, wait_ns.value_or(0));
    }
    return most_ns;
  }
  double left_of(std::size_t column) const { return kRankWidth + width_ * static_cast<double>(column); }

  void draw_head() {
    page_.element("text", {{"class", "tick"}, {"x", kRankWidth}, {"y", 14}}, fmt::format("time waited, {}, by communicator", axis_.unit));
    for (std::size_t i = 0; i < matrix_.columns.size(); ++i) {
      page_.open("g");
      page_.element("title", matrix_.columns[i]);
      page_.element("text", {{"class", "tick"}, {"x", left_of(i) + width_ / 2}, {"y", kMatrixTop - 8}, {"text-anchor", "middle"}}, cut_label(matrix_.columns[i], width_));
      page_.close("g");
    }
  }

  void draw_row(const MatrixRow& row, double y) {
    page_.element("text", {{"x", kRankWidth - 6}, {"y", y + kFieldHeight - 6}, {"text-anchor", "end"}}, cut_label(row.label, kRankWidth));
    for (std::size_t i = 0; i < row.waits_ns.size(); ++i) {
      if (row.waits_ns[i]) draw_field(fmt::format("{}, {}: {}", row.label, matrix_.columns[i], duration_text(*row.waits_ns[i])), *row.waits_ns[i], left_of(i), y);
    }
  }

  void draw_field(const std::string& what, std::int64_t wait_ns, double x, double y) {
    const int shade = shade_of(wait_ns, most_ns_);
    page_.open("g");
    page_.element("title", what);
    page_.empty("rect", {{"class", fmt::format("field shade-{}", shade)}, {"x", x}, {"y", y}, {"width", width_ - 2}, {"height", kFieldHeight - 2}});
    page_.element("text", {{"class", shade > 2 ? "on-dark" : "on-light"}, {"x", x + width_ / 2 - 1}, {"y", y + kFieldHeight - 6}, {"text-anchor", "middle"}},
                  field_text(static_cast<double>(wait_ns) / axis_.divisor));
    page_.close("g");
  }

  Html& page_;
  const Matrix& matrix_;
  const std::int64_t most_ns_;
  const Axis axis_;
  double width_ = 0;
};

}  // namespace

void write_wait_matrix(Html& page, const ResultTable& waits) {
  const std::vector<ResultTable> one{waits};
  const Matrix matrix = matrix_of(TableReading(one, waits.name));
  page.open("figure");
  if (!matrix.has_all_ranks) page.element("p", {{"class", "caption"}}, "The ranks that waited least, for whom the others wait; the table has all.");
  page.open("div", {{"class", "wide"}});
  MatrixDrawing(page, matrix).draw();
  page.close("div");
  page.close("figure");
}

}  // namespace cli
