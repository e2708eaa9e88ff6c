#include "cli/answers/tables/summary.h"

#include "cli/answers/tables/write_tables.h"
#include "cli/base/text.h"
#include "cli/trace/ranks.h"

namespace cli {
namespace {

constexpr std::size_t kMostGpus = 16, kKernels = 5;
// Minimum share of the GPU time within steps; below it, the time of all GPUs does not represent the steps
constexpr double kMostInSteps = 0.9;
constexpr std::array kTables{std::string_view("temporal"), std::string_view("steps"), std::string_view("kernels"),
                             std::string_view("stragglers")};

double percent_of(std::int64_t part_ns, std::int64_t whole_ns) {
  return whole_ns > 0 ? 100.0 * static_cast<double>(part_ns) / static_cast<double>(whole_ns) : 0.0;
}

struct LostTime {
  std::int64_t ns;
  std::string text, next;
};

std::string where_most(const TableReading& gpus, std::string_view key) {
  if (gpus.rows() < 2) return "";
  std::vector<std::pair<std::int64_t, std::size_t>> by_time;
  for (std::size_t row = 0; row < gpus.rows(); ++row) by_time.push_back({gpus.number(row, key), row});
  std::sort(by_time.begin(), by_time.end());
  const auto least = by_time.front(), most = by_time.back();
  return fmt::format("; from {} on {} to {} on {}", duration_text(least.first), gpus.rank(least.second),
                     duration_text(most.first), gpus.rank(most.second));
}

std::string gpu_time_text(const TableReading& gpus, std::int64_t whole_ns) {
  const std::int64_t compute_ns = gpus.sum("compute_ns");
  return fmt::format("{}, {} of GPU time: {:.2f} % compute, {:.2f} % without compute", count_text(gpus.rows(), "GPU"),
                     duration_text(whole_ns), percent_of(compute_ns, whole_ns),
                     percent_of(whole_ns - compute_ns, whole_ns));
}

std::vector<LostTime> losses_of(const TableReading& gpus) {
  const std::int64_t alone_ns = gpus.sum("busy_ns") - gpus.sum("compute_ns") - gpus.sum("exposed_comm_ns");
  std::vector<LostTime> losses{
      {gpus.sum("idle_ns"), "idle" + where_most(gpus, "idle_ns"), "temporal"},
      {gpus.sum("exposed_comm_ns"), "exposed communication" + where_most(gpus, "exposed_comm_ns"), "overlap"},
      {alone_ns, "copies and memsets alone", "temporal"}};
  std::erase_if(losses, [](const LostTime& loss) { return loss.ns <= 0; });
  std::stable_sort(losses.begin(), losses.end(), [](const LostTime& a, const LostTime& b) { return a.ns > b.ns; });
  return losses;
}

// For example: "rank 1 is late: ...".
struct LateRank {
  std::int64_t cost_ns;
  std::string text;
};

// Returns all ranks that are known to be late.
std::vector<LateRank> late_ranks(const TableReading& ranks, std::int64_t whole_ns) {
  std::vector<LateRank> found;
  for (std::size_t row = 0; row < ranks.rows(); ++row) {
    if (!ranks.get<bool>(row, "straggler").value_or(false)) continue;
    const std::int64_t cost_ns = ranks.number(row, "others_waited_ns");
    std::string text =
        fmt::format("{} is late to collectives: the others waited {} for it alone, {:.2f} % of the GPU time; cause: {}",
                    ranks.rank(row), duration_text(cost_ns), percent_of(cost_ns, whole_ns),
                    ranks.get<std::string>(row, "cause").value_or("unknown"));
    if (const auto evidence = ranks.get<std::string>(row, "evidence")) text += " (" + *evidence + ")";
    found.push_back({cost_ns, std::move(text)});
  }
  return found;
}

std::string steps_text(const std::vector<ResultTable>& tables, std::int64_t whole_ns) {
  const TableReading steps(tables, "steps");
  if (steps.rows() == 0) return "no steps found";
  const std::set<std::int64_t> warm_ups = warm_up_numbers(tables);
  std::vector<std::pair<std::int64_t, std::size_t>> durations;
  std::int64_t first = steps.number(0, "step"), last = first, longest_warm_up_ns = 0;
  for (std::size_t row = 0; row < steps.rows(); ++row) {
    const std::int64_t number = steps.number(row, "step"), ns = steps.number(row, "duration_ns");
    first = std::min(first, number);
    last = std::max(last, number);
    if (warm_ups.contains(number)) {
      longest_warm_up_ns = std::max(longest_warm_up_ns, ns);
    } else {
      durations.push_back({ns, row});
    }
  }
  std::sort(durations.begin(), durations.end());
  std::string out = first == last ? fmt::format("step {}: ", first) : fmt::format("steps {} to {}: ", first, last);
  if (durations.empty()) {
    out += "only warm-up, up to " + duration_text(longest_warm_up_ns);
  } else {
    const auto& [longest_ns, longest] = durations.back();
    if (durations.size() == 1) {
      out += duration_text(longest_ns);
    } else {
      out += fmt::format("median {}, longest {} (step {}{})",
                         duration_text(durations[(durations.size() - 1) / 2].first), duration_text(longest_ns),
                         steps.number(longest, "step"), of_rank(steps.get<std::int64_t>(longest, "rank").value_or(-1)));
    }
    if (!warm_ups.empty()) {
      out += fmt::format(", without warm-up {} {} of up to {}", warm_ups.size() == 1 ? "step" : "steps",
                         number_list({warm_ups.begin(), warm_ups.end()}), duration_text(longest_warm_up_ns));
    }
  }
  const std::int64_t within_ns = steps.sum("duration_ns");
  if (steps.sum("busy_ns") > 0 && static_cast<double>(within_ns) < kMostInSteps * static_cast<double>(whole_ns)) {
    out += fmt::format("; GPUs are busy for {:.1f} % of the steps", percent_of(steps.sum("busy_ns"), within_ns));
  }
  const std::size_t shown = durations.empty() ? 0 : durations.back().second;
  if (const auto found_by = steps.get<std::string>(shown, "found_by"); found_by == kPeriodOfKernels)
    out += "; found by the period of kernels";
  return out;
}

std::string text_of(ResultTable table) { return find_table_format("text")->write({std::move(table)}); }

}  // namespace

std::vector<const AnalysisEntry*> summary_analyses() {
  std::vector<const AnalysisEntry*> chosen;
  for (const AnalysisEntry& entry : analyses()) {
    if (std::find(kTables.begin(), kTables.end(), entry.name) != kTables.end()) chosen.push_back(&entry);
  }
  return chosen;
}

std::set<std::int64_t> warm_up_numbers(const std::vector<ResultTable>& tables) {
  const TableReading steps(tables, "steps");
  std::set<std::int64_t> numbers;
  for (std::size_t row = 0; row < steps.rows(); ++row) {
    if (steps.get<bool>(row, "warm_up").value_or(false)) numbers.insert(steps.number(row, "step"));
  }
  return numbers;
}

std::vector<std::string> summary_sentences(const std::vector<ResultTable>& tables) {
  const TableReading gpus(tables, "temporal"), ranks(tables, "stragglers");
  const std::int64_t whole_ns = gpus.sum("span_ns");
  if (whole_ns == 0) return {"no GPU work."};
  std::string time = gpu_time_text(gpus, whole_ns);
  if (const auto losses = losses_of(gpus); !losses.empty()) {
    time += fmt::format("; the largest part is {:.2f} %, {}: {}", percent_of(losses.front().ns, whole_ns),
                        duration_text(losses.front().ns), losses.front().text);
  }
  const std::vector<LateRank> late = late_ranks(ranks, whole_ns);
  const auto latest = std::ranges::max_element(late, {}, &LateRank::cost_ns);
  std::string who = late.empty() ? "no rank is known to be late to collectives" : latest->text;
  if (late.size() > 1)
    who += fmt::format("; {} more {} late", late.size() - 1, late.size() == 2 ? "rank is" : "ranks are");
  if (late.empty() && gpus.rows() == 1) return {time + ".", steps_text(tables, whole_ns) + "."};
  return {time + ".", steps_text(tables, whole_ns) + ".", who + "."};
}

std::string summary_text(const std::vector<ResultTable>& tables, const std::string& inputs) {
  const TableReading gpus(tables, "temporal"), kernels(tables, "kernels"), ranks(tables, "stragglers");
  const std::int64_t whole_ns = gpus.sum("span_ns");
  if (whole_ns == 0) return "no GPU work\n";
  std::string out;
  add_line(out, gpu_time_text(gpus, whole_ns));
  const std::vector<LostTime> losses = losses_of(gpus);
  for (const LostTime& loss : losses)
    add_line(out, "{:6.2f} %  {}: {}", percent_of(loss.ns, whole_ns), duration_text(loss.ns), loss.text);
  const std::vector<LateRank> late = late_ranks(ranks, whole_ns);
  for (const LateRank& rank : late) add_line(out, rank.text);
  add_line(out, steps_text(tables, whole_ns));
  if (kernels.rows() > 0)
    out += "\n" + text_of(kernels.part({"class", "count", "sum_ns", "share_pct", "median_ns", "name"}, kKernels));
  if (gpus.rows() <= kMostGpus) out += "\n" + text_of(gpus.table());
  const std::string_view next = !late.empty()    ? std::string_view("stragglers")
                                : losses.empty() ? std::string_view("kernels")
                                                 : std::string_view(losses.front().next);
  return out + fmt::format("\nnext: tracetool analyze {} --only {}  # --list names all tables\n", inputs, next);
}

}  // namespace cli
