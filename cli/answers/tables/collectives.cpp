// collectives: one row per collective over its ranks: who was last, who waited, how fast it was.
#include "cli/answers/tables/cells.h"

namespace cli {
namespace {

constexpr Column kWaitParts[] = {
    {"rank", Unit::number, "Rank"},
    {"wait_ns", Unit::ns, "Time from its start to the last start"},
    {"exposed_ns", Unit::ns, "Time of the collective on the rank without compute"},
};

std::vector<Column> collective_columns(RowKeys) {
  return {
      kCommunicatorColumn,
      kDescriptionColumn,
      kEpochColumn,
      {"ordinal", Unit::number,
       "Number of the collective on the communicator, as recorded, or counted from the first in the trace"},
      kOperationColumn,
      {"bytes", Unit::bytes, "Size from which nccl-tests computes bandwidth"},
      {"ranks", Unit::count, "Number of ranks with this collective in the trace"},
      {"group_ranks", Unit::count, "Number of ranks of the communicator, if known"},
      {"first_start_ns", Unit::ns, "Start on the first rank, since the start of the trace"},
      {"last_start_ns", Unit::ns, "Start on the last rank, since the start of the trace"},
      {"last_rank", Unit::number, "Rank that started last, if all ranks are known"},
      {"end_ns", Unit::ns, "End on the last rank, since the start of the trace"},
      {"transfer_ns", Unit::ns, "end_ns - last_start_ns, if all ranks are known and each depends on all others"},
      {"algbw_gb_per_s", Unit::rate, "Algorithm bandwidth: bytes / transfer_ns"},
      {"busbw_gb_per_s", Unit::rate,
       "Bus bandwidth: algbw times the factor of nccl-tests for the operation and number of ranks"},
      {"state", Unit::text,
       "complete, missing_ranks, mismatch (different calls), open (not ended on a rank) or no_gpu_work (not in the trace)"},
      {"waits", Unit::rows, "rank, wait_ns and exposed_ns of each rank", kWaitParts, std::size(kWaitParts)},
      {"trouble", Unit::text, "Problem with the collective"}};
}

class CollectiveTable : public Analysis {
 public:
  using Analysis::Analysis;

  void finish(ResultTable& table) override {
    table.notes = collective_notes(context_);
    std::vector<std::pair<std::int64_t, const MatchedCollective*>> order;
    for (const MatchedCollective& each : matched().collectives) {
      if (is_shown(context_, each)) order.emplace_back(time_of(each), &each);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [ns, each] : order) table.rows.push_back(row(*each));
  }

 private:
  const MatchedCollectives& matched() const { return context_.collectives->matched; }
  const CollectiveCalls& calls() const { return context_.collectives->calls; }
  Cell since_origin(std::int64_t ns) const { return ns == kNoTime ? Cell() : Cell(ns - context_.origin_ns); }

  std::int64_t time_of(const MatchedCollective& collective) const {
    const std::int64_t ns = times_of(matched(), calls(), collective).first_start_ns;
    if (ns != kNoTime) return ns;
    return call_of(calls(), matched().calls_of(collective)[0]).host_start_ns;
  }

  std::vector<Cell> row(const MatchedCollective& collective) const {
    const MatchedGroup& group = matched().groups[collective.group];
    const Operation operation = calls().whats[collective.what].operation;
    const CollectiveTimes times = times_of(matched(), calls(), collective);
    const auto some = matched().calls_of(collective);
    const auto size = size_of(matched(), calls(), collective);
    const auto algbw = gb_per_s(size, times.transfer_ns);
    const auto factor = bus_factor(operation, group.size);
    std::vector<Cell> cells;
    append_communicator(cells, calls().communicators[group.communicator]);
    append(cells, collective.ordinal, operation_name(operation), size, collective.calls,
           known_cell(ranks_of(matched(), collective)), since_origin(times.first_start_ns),
           since_origin(times.last_start_ns),
           times.all_started ? Cell(rank_of(context_.catalog, some[times.last_call])) : Cell(),
           since_origin(times.end_ns), times.transfer_ns, algbw, algbw && factor ? Cell(*algbw * *factor) : Cell(),
           state_name(collective.state), waits(some, times),
           text_cell(trouble_text(matched(), calls(), context_.catalog, collective)));
    return cells;
  }

  CellRows waits(std::span<const MatchedCall> some, const CollectiveTimes& times) const {
    CellRows rows;
    for (const MatchedCall& each : some) {
      const CollectiveCall& call = call_of(calls(), each);
      const bool is_known = call.gpu_start_ns != kNoTime;
      auto& row = rows.emplace_back(std::size(kWaitParts));
      if (const std::int64_t rank = rank_of(context_.catalog, each); rank >= 0) row[0] = rank;
      if (is_known && times.all_started) row[1] = times.last_start_ns - call.gpu_start_ns;
      if (is_known && call.gpu_end_ns != kNoTime) row[2] = call.exposed_ns;
    }
    return rows;
  }
};

}  // namespace

AnalysisEntry collectives_analysis() {
  return analysis_entry<CollectiveTable, collective_columns>(
      {.name = "collectives",
       .meaning = "Collectives over their ranks: the last rank, waits, transfer time and bandwidth",
       .by = {GroupBy::none},
       .needs = {.collectives = true}});
}

}  // namespace cli
