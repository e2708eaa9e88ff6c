// comm: activity of each communicator, by operation and size: count, duration, exposed part, bandwidth.
#include <bit>
#include <functional>
#include <map>
#include <tuple>

#include "cli/answers/tables/cells.h"

namespace cli {
namespace {

std::vector<Column> comm_columns(RowKeys) {
  return {kCommunicatorColumn,
          kDescriptionColumn,
          kEpochColumn,
          {"group_ranks", Unit::count, "Number of ranks of the communicator, if known"},
          kOperationColumn,
          {"from_bytes", Unit::bytes, "Smallest size in the row; the largest is less than twice as much"},
          {"count", Unit::count, "Number of collectives"},
          {"complete", Unit::count, "Number of collectives that are known on every rank and ended"},
          {"time_ns", Unit::ns, "Total duration, summed over chosen ranks"},
          {"wait_ns", Unit::ns, "Part of time_ns before the last rank started, if all ranks are known"},
          {"exposed_pct", Unit::percent, "Share of time_ns without compute on the rank's GPU"},
          {"transfer_ns", Unit::ns, "Time from the last start to the last end, summed over collectives"},
          {"busbw_gb_per_s", Unit::rate, "Median bus bandwidth of collectives with a known transfer time"},
          {"best_busbw_gb_per_s", Unit::rate, "Highest bus bandwidth of these collectives"},
          {"of_best_pct", Unit::percent, "busbw_gb_per_s relative to best_busbw_gb_per_s"}};
}

struct Traffic {
  std::int64_t count = 0, complete = 0, time_ns = 0, wait_ns = 0, exposed_ns = 0, transfer_ns = 0;
  bool has_waits = false;
  std::vector<double> busbw;
};

class CommTable : public Analysis {
 public:
  using Analysis::Analysis;

  void finish(ResultTable& table) override {
    table.notes = collective_notes(context_);
    for (const MatchedCollective& each : context_.collectives->matched.collectives) {
      if (is_shown(context_, each)) add(each);
    }
    for (auto& [key, traffic] : traffic_) table.rows.push_back(row(key, traffic));
    const auto time_at = [&](const std::vector<Cell>& cells) { return std::get<std::int64_t>(cells[8]); };
    std::ranges::stable_sort(table.rows, std::greater(), time_at);
  }

 private:
  // Group, operation, size (-1 if unknown).
  using Key = std::tuple<std::uint32_t, Operation, std::int64_t>;

  void add(const MatchedCollective& collective) {
    const auto& [calls, matched, clocks] = *context_.collectives;
    const Operation operation = calls.whats[collective.what].operation;
    const auto size = size_of(matched, calls, collective);
    const std::int64_t from = size ? static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(*size))) : -1;
    Traffic& traffic = traffic_[{collective.group, operation, from}];
    const CollectiveTimes times = times_of(matched, calls, collective);
    ++traffic.count;
    traffic.complete += collective.state == CollectiveState::complete;
    for (const MatchedCall& each : matched.calls_of(collective)) {
      const CollectiveCall& call = call_of(calls, each);
      if (!context_.chosen[each.process] || call.gpu_end_ns == kNoTime) continue;
      traffic.time_ns += call.gpu_end_ns - call.gpu_start_ns;
      traffic.exposed_ns += call.exposed_ns;
      if (times.all_started) {
        traffic.wait_ns += times.last_start_ns - call.gpu_start_ns;
        traffic.has_waits = true;
      }
    }
    if (!times.transfer_ns) return;
    traffic.transfer_ns += *times.transfer_ns;
    const auto algbw = gb_per_s(size, times.transfer_ns);
    const auto factor = bus_factor(operation, matched.groups[collective.group].size);
    if (algbw && factor) traffic.busbw.push_back(*algbw * *factor);
  }

  std::vector<Cell> row(const Key& key, Traffic& traffic) const {
    const auto& [calls, matched, clocks] = *context_.collectives;
    const auto& [group, operation, from] = key;
    std::vector<Cell> cells;
    append_communicator(cells, calls.communicators[matched.groups[group].communicator]);
    append(cells, known_cell(matched.groups[group].size), operation_name(operation), known_cell(from), traffic.count,
           traffic.complete, traffic.time_ns, traffic.has_waits ? Cell(traffic.wait_ns) : Cell(),
           percent(traffic.exposed_ns, traffic.time_ns), traffic.transfer_ns > 0 ? Cell(traffic.transfer_ns) : Cell());
    if (traffic.busbw.empty()) return cells;
    std::sort(traffic.busbw.begin(), traffic.busbw.end());
    const double middle = traffic.busbw[(traffic.busbw.size() - 1) / 2], best = traffic.busbw.back();
    append(cells, middle, best, best > 0 ? Cell(100 * middle / best) : Cell());
    return cells;
  }

  std::map<Key, Traffic> traffic_;
};

}  // namespace

AnalysisEntry comm_analysis() {
  return analysis_entry<CommTable, comm_columns>(
      {.name = "comm",
       .meaning = "Communicators by operation and size: time, exposed share, bandwidth",
       .by = {GroupBy::none},
       .needs = {.collectives = true}});
}

}  // namespace cli
