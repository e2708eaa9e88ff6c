// Axes, groups of bars, colours.
#include <optional>
#include <string>
#include <vector>

#include "cli/show/report/bar_chart.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/fills.h"
#include "cli/show/report/page.h"
#include "cli/show/report/step_times.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::report;

TEST_CASE("report: an axis ends at a round number that holds all", "[report]") {
  for (const double largest : {1.0, 7.0, 10.0, 11.0, 999.0, 1000.0, 1001.0, 123456789.0, 2e9, 7.3e12}) {
    const Axis axis = axis_for(largest, Unit::ns);
    CAPTURE(largest, axis.most);
    CHECK(axis.most >= largest * (1 - 1e-9));
    CHECK(axis.most <= largest * 2.0 + 1);
    CHECK(axis.ticks.size() >= 2);
    CHECK(axis.ticks.size() <= 6);
    CHECK(axis.ticks.front() == 0);
  }
}

TEST_CASE("report: ticks are in the largest unit of which there is one", "[report]") {
  CHECK(axis_for(206'683'000, Unit::ns).unit == "ms");
  CHECK(axis_for(206'683'000, Unit::ns).tick_text(250e6) == "250");
  CHECK(axis_for(999, Unit::ns).unit == "ns");
  CHECK(axis_for(2e9, Unit::ns).unit == "s");
  CHECK(axis_for(3.0 * (1 << 30), Unit::bytes).unit == "GiB");
  CHECK(axis_for(80, Unit::percent).unit == "%");
  CHECK(axis_for(400, Unit::rate).unit == "GB/s");
  CHECK(axis_for(12, Unit::count).unit.empty());
  CHECK(axis_for(0, Unit::ns).most > 0);
}

TEST_CASE("report: of many bars the means of neighbours", "[report]") {
  std::vector<Bar> bars;
  for (int rank = 0; rank < 64; ++rank) bars.push_back({"rank " + std::to_string(rank), {1.0 * rank, 2.0}, rank});
  CHECK(grouped(bars).size() == 64);
  CHECK(grouped(bars)[3].label == "rank 3");
  bars.push_back({"rank 64", {64, 2}, 64});
  const auto groups = grouped(bars);
  REQUIRE(groups.size() == 33);
  CHECK(groups[0].label == "ranks 0-1");
  CHECK(groups[0].values == std::vector<double>{0.5, 2.0});
  CHECK(groups[32].label == "rank 64");
  CHECK(groups[32].values == std::vector<double>{64, 2});
}

TEST_CASE("report: groups that are not of ascending ranks are named by their bars", "[report]") {
  std::vector<Bar> of_one;
  for (int gpu = 0; gpu < 130; ++gpu) of_one.push_back({"rank 0 GPU " + std::to_string(gpu), {1}, 0});
  const auto groups = grouped(of_one);
  REQUIRE(groups.size() == 44);
  CHECK(groups[0].label == "rank 0 GPU 0 to 2");
  CHECK(groups[43].label == "rank 0 GPU 129");

  std::vector<Bar> of_some;
  for (int gpu = 0; gpu < 128; ++gpu)
    of_some.push_back(
        {"rank " + std::to_string((gpu + 1) / 4) + " GPU " + std::to_string((gpu + 1) % 4), {1}, (gpu + 1) / 4});
  CHECK(grouped(of_some)[0].label == "rank 0 GPU 1 to 2");
  CHECK(grouped(of_some)[1].label == "rank 0 GPU 3 to rank 1 GPU 0");

  std::vector<Bar> unknown;
  for (int i = 0; i < 65; ++i) unknown.push_back({"an unknown rank", {1}, -1});
  CHECK(grouped(unknown)[0].label == "an unknown rank");
}

TEST_CASE("report: bars are as long as their values, and the chart says so in words", "[report]") {
  BarChart chart;
  chart.title = "a <title>";
  chart.description = "what it shows";
  chart.quantity = "time";
  chart.parts = {BarPart(Fill::compute), BarPart(Fill::idle)};
  chart.bars = {{"rank 0", {3e6, 1e6}, 0}};
  Html page;
  write_bars(page, chart);
  INFO(page.all());
  CHECK(page.all().find("<title>a &lt;title&gt;</title><desc>what it shows</desc>") != std::string::npos);
  CHECK(page.all().find("<title>rank 0: compute 3.000 ms, idle 1.000 ms</title>") != std::string::npos);
  CHECK(page.all().find("time, ms") != std::string::npos);
  const auto width_after = [&](std::size_t from) {
    return std::stod(page.all().substr(page.all().find("width=\"", from) + 7));
  };
  const std::size_t bar = page.all().find("rank 0: compute"), first = page.all().find("<rect", bar),
                    second = page.all().find("<rect", first + 1);
  CHECK(std::abs(width_after(first) - 3 * width_after(second)) < 0.05);
}

TEST_CASE("report: each fill has a colour of the palette", "[report]") {
  Html patterns;
  write_patterns(patterns);
  for (std::size_t i = 0; i < static_cast<std::size_t>(Fill::count_); ++i) {
    const auto fill = static_cast<Fill>(i);
    const std::string colour(colour_of(fill));
    CAPTURE(colour);
    CHECK(!fill_name(fill).empty());
    CHECK(kPageStyle.find("--" + colour + ": #") != std::string_view::npos);
    CHECK(kPageStyle.find("\n." + colour + " {") != std::string_view::npos);
    const std::string id = paint(fill).substr(5, paint(fill).size() - 6);
    CHECK(patterns.all().find("id=\"" + id + "\"") != std::string::npos);
  }
  CHECK(colour_of(Fill::exposed) == "terrible");  // as chrome://tracing has it
  CHECK(colour_of(Fill::communication) == "bad");
}

TEST_CASE("report: fills of one chart have patterns that differ without colour", "[report]") {
  Html patterns;
  write_patterns(patterns);
  // As it is drawn, without its id and its colour.
  const auto drawn = [&](Fill fill) {
    std::string id = paint(fill).substr(5), mark;
    id.pop_back();
    const std::size_t begin = patterns.all().find("id=\"" + id + "\"") + id.size() + 5;
    mark = patterns.all().substr(begin, patterns.all().find("</pattern>", begin) - begin);
    const std::size_t color = mark.find("class=\"");
    return mark.erase(color, mark.find("\"/>", color) - color);
  };
  const std::vector<std::vector<Fill>> charts{
      {Fill::compute, Fill::exposed, Fill::memory, Fill::idle},          // time of each GPU
      {Fill::communication, Fill::exposed},                              // overlap
      {Fill::communication, Fill::idle},                                 // bandwidth
      {Fill::compute, Fill::matmul, Fill::communication, Fill::memory},  // kernels, classes
      {Fill::waiting, Fill::blocking_copy, Fill::after_wait, Fill::host_late, Fill::launching, Fill::queued,
       Fill::unexplained},                                                            // idle time
      {Fill::compute, Fill::communication, Fill::exposed, Fill::memory, Fill::idle},  // the timeline
      {Fill::compute, Fill::late_most, Fill::late_next, Fill::late_third, Fill::late_others, Fill::exposed,
       Fill::memory, Fill::waiting, Fill::blocking_copy, Fill::after_wait, Fill::host_late, Fill::launching,
       Fill::queued, Fill::unexplained},                                                   // the mean step
      {Fill::forward, Fill::backward, Fill::optimizer, Fill::communication, Fill::other},  // phases
  };
  for (const std::vector<Fill>& chart : charts) {
    for (std::size_t i = 0; i < chart.size(); ++i) {
      for (std::size_t other = 0; other < i; ++other) {
        CAPTURE(fill_name(chart[i]), fill_name(chart[other]));
        CHECK(drawn(chart[i]) != drawn(chart[other]));
      }
    }
  }
}

TEST_CASE("report: each step over its ranks", "[report]") {
  const ResultTable steps{
      "steps",
      {{"step", Unit::number, ""},
       {"rank", Unit::number, ""},
       {"duration_ns", Unit::ns, ""},
       {"warm_up", Unit::yes_no, ""}},
      {{4, 0, 100, true}, {4, 1, 130, false}, {4, 2, 90, false}, {3, 0, 7, false}, {5, 1, Cell(), false}},
      {}};
  const ResultTable over_ranks = step_times({steps});
  REQUIRE(over_ranks.rows.size() == 2);
  CHECK(over_ranks.rows[0] == std::vector<Cell>{std::int64_t{3}, std::int64_t{1}, std::int64_t{7}, std::int64_t{7},
                                                std::int64_t{7}, std::int64_t{0}, false});
  CHECK(over_ranks.rows[1] == std::vector<Cell>{std::int64_t{4}, std::int64_t{3}, std::int64_t{90}, std::int64_t{100},
                                                std::int64_t{130}, std::int64_t{1}, true});
}

TEST_CASE(
    "report: fields of a heat map are the darker the more, blue for what is less, and have text if columns are wide enough",
    "[report]") {
  HeatMap map{"a <title>",
              "what it shows",
              "columns",
              {"x", "y"},
              {1},
              {{"rank 0", {HeatField{1, "much", "rank 0, x: much"}, HeatField{-0.5, "less", "less"}}},
               {"rank 1", {std::nullopt, HeatField{0.01, "same", "same"}}, true}}};
  Html page;
  write_heat_map(page, map);
  INFO(page.all());
  const auto holds = [&](const std::string& text) { return page.all().find(text) != std::string::npos; };
  CHECK(holds("<title>a &lt;title&gt;</title><desc>what it shows</desc>"));
  CHECK(holds("<title>rank 0, x: much</title><rect class=\"field shade-5\""));
  CHECK(holds("<title>less</title><rect class=\"field little shade-3\""));
  CHECK(holds("<title>same</title><rect class=\"field shade-0\""));
  CHECK(holds("class=\"culprit\""));
  CHECK(holds(">much</text>"));
  while (map.columns.size() <= kMostTextColumns) map.columns.push_back("z");
  Html narrow;
  write_heat_map(narrow, map);
  CHECK(narrow.all().find(">much</text>") == std::string::npos);
  CHECK(narrow.all().find("<title>rank 0, x: much</title>") != std::string::npos);
}
