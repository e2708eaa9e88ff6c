// The mean step as one bar with a list of its numbers.

#include <algorithm>
#include <map>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/summary.h"
#include "cli/base/text.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/table_html.h"
#include "cli/trace/ranks.h"

namespace cli::report {
namespace {

constexpr double kPictureHeight = 46, kLeastNamed = 0.09;  // narrower parts have no name in the bar
// Maximum number of named ranks; waiting for each takes at least 1 %
constexpr std::size_t kLateRanks = 3;

struct MeanPart {
  std::string name;
  Fill fill = Fill::compute;
  std::int64_t sum_ns = 0;
};

// The rows of steps without warm-up, or the rows of the whole time if there are none.
struct MeanStep {
  std::int64_t rows = 0, span_ns = 0;
  std::set<std::int64_t> steps;  // empty for the whole time
  std::vector<MeanPart> parts;
};

class MeanStepMaker {
 public:
  explicit MeanStepMaker(const ReportFacts& facts) : facts_(facts), warm_ups_(warm_up_numbers(facts.tables)) {
    const TableReading gpus(facts.by_step, "temporal");
    if (!has_time(gpus)) warm_ups_.clear();  // all steps are warm-up
    by_step_ = has_time(gpus);
  }

  MeanStep make() const {
    const std::vector<ResultTable>& tables = by_step_ ? facts_.by_step : facts_.tables;
    const TableReading gpus(tables, "temporal"), idle(tables, "idle");
    MeanStep mean;
    std::int64_t compute_ns = 0, exposed_ns = 0, busy_ns = 0;
    for (std::size_t row = 0; row < gpus.rows(); ++row) {
      if (!counts(gpus, row)) continue;
      ++mean.rows;
      mean.span_ns += gpus.number(row, "span_ns");
      busy_ns += gpus.number(row, "busy_ns");
      compute_ns += gpus.number(row, "compute_ns");
      exposed_ns += gpus.number(row, "exposed_comm_ns");
      if (by_step_) mean.steps.insert(gpus.number(row, "step"));
    }
    mean.parts.push_back({"compute", Fill::compute, compute_ns});
    add_exposed(mean, exposed_ns);
    mean.parts.push_back({"copies and memsets alone", Fill::memory, busy_ns - compute_ns - exposed_ns});
    for (const ColumnFill& cause : kIdleFills) {
      std::int64_t sum_ns = 0;
      for (std::size_t row = 0; row < idle.rows(); ++row) sum_ns += counts(idle, row) ? idle.number(row, cause.key) : 0;
      mean.parts.push_back({fmt::format("idle: {}", fill_name(cause.fill)), cause.fill, sum_ns});
    }
    std::erase_if(mean.parts, [](const MeanPart& part) { return part.sum_ns <= 0; });
    return mean;
  }

 private:
  bool counts(const TableReading& rows, std::size_t row) const {
    if (!rows.get<std::int64_t>(row, "device")) return false;
    const auto step = rows.get<std::int64_t>(row, "step");
    return !step || !warm_ups_.contains(*step);
  }
  bool has_time(const TableReading& gpus) const {
    for (std::size_t row = 0; row < gpus.rows(); ++row) {
      if (counts(gpus, row) && gpus.number(row, "busy_ns") > 0) return true;
    }
    return false;
  }

  // Splits exposed communication into waits for each rank and transfer.
  void add_exposed(MeanStep& mean, std::int64_t exposed_ns) const {
    std::vector<MeanPart>& parts = mean.parts;
    const TableReading waits(by_step_ ? facts_.waits.by_step : facts_.waits.by_rank);
    std::map<std::int64_t, std::int64_t> late;
    for (std::size_t row = 0; row < waits.rows(); ++row) {
      if (!by_step_ || mean.steps.contains(waits.number(row, "step")))
        late[waits.get<std::int64_t>(row, "for_rank").value_or(-1)] += waits.number(row, "exposed_ns");
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> order;
    std::int64_t waited_ns = 0;
    for (const auto& [rank, ns] : late) {
      order.emplace_back(-ns, rank);
      waited_ns += ns;
    }
    std::ranges::sort(order);
    static constexpr Fill kFills[] = {Fill::late_most, Fill::late_next, Fill::late_third};
    std::int64_t named_ns = 0;
    for (std::size_t i = 0; i < std::min(kLateRanks, order.size()); ++i) {
      const auto& [minus_ns, rank] = order[i];
      if (-minus_ns * 100 < mean.span_ns) break;
      parts.push_back({rank < 0 ? std::string("waiting for an unknown rank") : fmt::format("waiting for rank {}", rank),
                       kFills[i], -minus_ns});
      named_ns -= minus_ns;
    }
    parts.push_back({std::string(fill_name(Fill::late_others)), Fill::late_others, waited_ns - named_ns});
    parts.push_back({waited_ns > 0 ? "exposed transfer" : std::string(fill_name(Fill::exposed)), Fill::exposed,
                     exposed_ns - waited_ns});
  }

  const ReportFacts& facts_;
  std::set<std::int64_t> warm_ups_;
  bool by_step_ = false;
};

ResultTable table_of(const MeanStep& mean) {
  ResultTable table{"mean_step",
                    {{"part", Unit::text, "GPU activity, or cause of idle time"},
                     {"mean_ns", Unit::ns, "Mean over steps and GPUs"},
                     {"share_pct", Unit::percent, "Share of the step"}}};
  for (const MeanPart& part : mean.parts)
    table.rows.push_back({part.name, part.sum_ns / mean.rows, percent(part.sum_ns, mean.span_ns)});
  return table;
}

std::string share_text(const MeanPart& part, const MeanStep& mean) {
  return fmt::format("{}, {:.1f} %", duration_text(part.sum_ns / mean.rows),
                     100 * static_cast<double>(part.sum_ns) / static_cast<double>(mean.span_ns));
}

void draw_mean_step(Html& page, const MeanStep& mean, std::string_view what) {
  std::string description = fmt::format("One bar, {}:", what);
  for (const MeanPart& part : mean.parts) description += fmt::format(" {} {};", part.name, share_text(part, mean));
  description.back() = '.';
  open_chart(page, {what, description, kPictureHeight, 0});
  double from = 0;
  for (const MeanPart& part : mean.parts) {
    const double share = static_cast<double>(part.sum_ns) / static_cast<double>(mean.span_ns);
    open_box(page, "box", from, share, 0, kPictureHeight);
    page.element("title", fmt::format("{}: {}", part.name, share_text(part, mean)));
    page.empty("rect", {{"width", "100%"}, {"height", "100%"}, {"fill", paint(part.fill)}});
    if (share >= kLeastNamed) {
      page.element("text", {{"x", 6}, {"y", 19}}, part.name);
      page.element("text", {{"x", 6}, {"y", 36}}, fmt::format("{:.1f} %", 100 * share));
    }
    close_box(page);
    from += share;
  }
  close_chart(page);
}

void write_mean_step(const ReportFacts& facts, Html& page) {
  const MeanStep mean = MeanStepMaker(facts).make();
  const std::string length = duration_text(mean.span_ns / mean.rows);
  const bool by_step = !mean.steps.empty();
  const std::string what =
      by_step ? fmt::format("the mean step of {}", length) : fmt::format("the mean GPU's {}", length);
  write_paragraph(
      page, by_step ? fmt::format("The mean step takes {} ({} {}, mean of {}).", length,
                                  mean.steps.size() == 1 ? "step" : "steps",
                                  number_list({mean.steps.begin(), mean.steps.end()}),
                                  count_text(static_cast<std::uint64_t>(mean.rows), "GPU step"))
                    : fmt::format("No training steps were found. Mean of {} from the first to the last GPU work: {}.",
                                  count_text(static_cast<std::uint64_t>(mean.rows), "GPU"), length));
  page.open("figure");
  draw_mean_step(page, mean, what);
  page.open("ul", {{"class", "parts"}});
  for (const MeanPart& part : mean.parts) {
    const Element in_li(page, "li");
    write_swatch(page, part.fill);
    page.text(fmt::format(" {} ", part.name));
    page.element("strong", share_text(part, mean));
  }
  page.close("ul");
  page.close("figure");
  write_folded_table(
      page, table_of(mean), facts, "parts of the mean step",
      {.command = fmt::format("tracetool analyze {}{} --only temporal,idle --by step", facts.inputs, facts.selected)});
}

}  // namespace

SectionEntry mean_step_section() {
  return {"mean-step", "Where the time goes", {"temporal", "idle", "steps"}, write_mean_step, has_gpu_time};
}

}  // namespace cli::report
