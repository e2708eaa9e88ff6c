// gaps: the longest idle times of devices, each with its cause (device_gaps.h) and the work launched after it.
#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/device_gaps.h"

namespace cli {
namespace {

constexpr std::size_t kMostGaps = 20;

std::vector<Column> gap_columns(RowKeys keys) {
  return joined(
      process_columns(keys),
      {kDeviceColumn,
       {"step", Unit::number, "Training step in which the call that launched the next work began"},
       {"start_ns", Unit::ns, "Time at which the GPU went idle, since the start of the trace"},
       {"end_ns", Unit::ns, "Time at which the next work began, since the start of the trace"},
       {"duration_ns", Unit::ns, "Length of the gap"},
       {"cause", Unit::text,
        "Cause of the longest part: sync, copy, after_sync, host_late, launch, queued or unexplained (see idle)"},
       {"part_ns", Unit::ns, "Length of the longest part"},
       {"call", Unit::text, "Call that launched the next work"},
       {"thread", Unit::number, "Operating system ID of the thread of that call"},
       {"call_start_ns", Unit::ns, "Start of the call, since the start of the trace"},
       {"sync", Unit::text, "Synchronization or blocking copy of the host when the GPU went idle"},
       {"before", Unit::text, "Name of the work before the gap"},
       {"next", Unit::text, "Name of the work after the gap"}});
}

class GapTable : public Analysis {
 public:
  using Analysis::Analysis;

  void gap(const DeviceGap& gap) override {
    const bool is_edge = gap.from_ns == kEarliest_ns || gap.next == nullptr;
    if (is_edge && !context_.windows.are_bounded()) return;
    context_.windows.each_part(
        gap.process, gap.from_ns, gap.to_ns, [&](std::size_t, std::int64_t start_ns, std::int64_t end_ns) {
          if (start_ns == gap.to_ns) return;
          ++count_;
          sum_ns_ += end_ns - start_ns;
          if (end_ns - start_ns < least_ns_) return;
          const IdleTimes times = gap.times(start_ns, end_ns);
          const auto most = std::max_element(times.begin(), times.end());
          rows_.push_back(
              {gap.process, gap.device, start_ns, end_ns, static_cast<IdleCause>(most - times.begin()), *most,
               gap.before, gap.next != nullptr ? gap.next->name : 0,
               gap.next != nullptr && gap.next->call != nullptr ? std::optional(*gap.next->call) : std::nullopt,
               gap.wait, gap.from_ns != kEarliest_ns, gap.next != nullptr});
          if (rows_.size() >= 64 * kMostGaps) keep_longest();
        });
  }

  void finish(ResultTable& table) override {
    keep_longest();
    for (const Row& row : rows_) table.rows.push_back(cells(row));
    if (count_ > rows_.size()) {
      table.notes.push_back("the " + std::to_string(rows_.size()) + " longest of " + count_text(count_, "gap", "gaps") +
                            " with a total of " + duration_text(sum_ns_));
    }
  }

 private:
  struct Row {
    ProcessId process;
    std::int64_t device, start_ns, end_ns;
    IdleCause cause;
    std::int64_t cause_ns;
    StringId before, next;
    std::optional<LaunchCall> call;
    std::optional<HostWait> wait;
    bool has_before, has_next;
  };

  void keep_longest() {
    std::ranges::sort(rows_, {}, [](const Row& row) {
      return std::tuple(row.start_ns - row.end_ns, row.process, row.device, row.start_ns);
    });
    if (rows_.size() < kMostGaps) return;
    rows_.resize(kMostGaps);
    least_ns_ = rows_.back().end_ns - rows_.back().start_ns;
  }

  std::optional<std::int64_t> step_of(const Row& row) const {
    if (!row.call) return std::nullopt;
    for (const Step& step : context_.steps[row.process]) {
      if (step.start_ns <= row.call->start_ns && row.call->start_ns < step.end_ns) return step.number;
    }
    return std::nullopt;
  }

  std::vector<Cell> cells(const Row& row) const {
    const auto since = [&](std::int64_t ns) { return context_.since_start(row.process, ns); };
    std::vector<Cell> cells = process_cells(row.process);
    append(cells, row.device, step_of(row), since(row.start_ns), since(row.end_ns), row.end_ns - row.start_ns,
           kIdleCauseNames[static_cast<std::size_t>(row.cause)], row.cause_ns);
    if (row.call) {
      append(cells, name_of(row.call->name), context_.catalog.tracks[row.call->track].id, since(row.call->start_ns));
    } else {
      append(cells, Cell(), Cell(), Cell());
    }
    append(cells, row.wait ? cell_of(name_of(row.wait->name)) : Cell(),
           row.has_before ? cell_of(name_of(row.before)) : Cell(), row.has_next ? cell_of(name_of(row.next)) : Cell());
    return cells;
  }

  std::vector<Row> rows_;      // the longest so far, plus some extra rows until the next cut
  std::int64_t least_ns_ = 0;  // gaps below it are not added
  std::uint64_t count_ = 0;
  std::int64_t sum_ns_ = 0;
};

}  // namespace

AnalysisEntry gaps_analysis() {
  return analysis_entry<GapTable, gap_columns>(
      {.name = "gaps",
       .meaning = "The 20 longest idle gaps of the GPUs, with their causes and the launch that ended them",
       .by = {GroupBy::none, GroupBy::rank},
       .needs = {.gaps = true}});
}

}  // namespace cli
