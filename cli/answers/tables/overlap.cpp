// overlap: how much of each communicator's communication overlaps with compute. Memory: 64 bytes per piece of
// communication.
//
// For a communicator, comm is the union of its work, hidden is the part that overlaps with compute, and exposed is the
// rest. If two communicators are active at once, both count that time; shared is its length. Over the rows of a device,
// comm - shared therefore adds up to the time in which exactly one communicator is active. If nothing is shared, comm
// and exposed add up to those of `temporal`.
#include <compare>
#include <map>
#include <queue>
#include <tuple>

#include "cli/answers/tables/cells.h"

namespace cli {
namespace {

std::vector<Column> overlap_columns(RowKeys keys) {
  return joined(
      device_columns(keys),
      {kCommunicatorColumn,
       kDescriptionColumn,
       kEpochColumn,
       {"count", Unit::count, "Number of kernels and copies, including those partly outside the chosen time"},
       {"comm_ns", Unit::ns, "Time with any of these kernels and copies"},
       {"hidden_ns", Unit::ns, "Part of comm_ns with compute at the same time"},
       {"exposed_ns", Unit::ns, "Part of comm_ns without compute"},
       {"shared_ns", Unit::ns, "Part of comm_ns with work of another communicator, which counts in both rows"},
       {"overlap_pct", Unit::percent, "Share of hidden_ns in comm_ns"}});
}

struct Moment {
  std::int64_t ns = 0, compute_ns = 0;  // a time, and the total compute time up to it
};

struct CommPiece {
  std::size_t window = 0;
  std::uint64_t work = 0;  // number of the work; its pieces are consecutive
  Moment start, end;
  std::int64_t whole_start_ns = 0, whole_end_ns = 0;  // of the work that this is a part of
};

class DeviceComm {
 public:
  void compute(std::int64_t start_ns, std::int64_t end_ns) {
    settle(start_ns);
    const std::int64_t from_ns = std::max(start_ns, computed_to_ns_);
    if (from_ns >= end_ns) return;
    computed_ns_ += end_ns - from_ns;
    computed_to_ns_ = end_ns;
  }
  void comm(const CommPiece& piece) {
    settle(piece.whole_start_ns);
    asked_.push({piece.start.ns, 2 * pieces_.size()});
    asked_.push({piece.end.ns, 2 * pieces_.size() + 1});
    pieces_.push_back(piece);
  }
  // Call it after the last work; repeated calls are allowed.
  std::vector<CommPiece>& finish() {
    settle(std::numeric_limits<std::int64_t>::max());
    asked_ = {};
    return pieces_;
  }

 private:
  void settle(std::int64_t now_ns) {
    for (; !asked_.empty() && asked_.top().first <= now_ns; asked_.pop()) {
      const auto [ns, which] = asked_.top();
      CommPiece& piece = pieces_[which / 2];
      (which % 2 == 0 ? piece.start : piece.end).compute_ns =
          computed_ns_ - std::max<std::int64_t>(0, computed_to_ns_ - ns);
    }
  }

  using Asked = std::pair<std::int64_t, std::size_t>;  // time; twice the index of the piece, plus 1 for its end
                                                       // The total compute time so far, and the end of the last compute
  std::int64_t computed_ns_ = 0, computed_to_ns_ = std::numeric_limits<std::int64_t>::min() / 2;
  std::vector<CommPiece> pieces_;
  std::priority_queue<Asked, std::vector<Asked>, std::greater<>> asked_;
};

// Finds the communicator of work by its times.
class CommunicatorsByTime {
 public:
  static constexpr std::int64_t kUnknown = -1;

  // The calls of one process.
  CommunicatorsByTime(const ProcessCalls& calls, const std::vector<CommunicatorInfo>& communicators) {
    for (const CollectiveLane& lane : calls.lanes) {
      // Communicators without a name cannot be distinguished
      if (communicators[lane.communicator].label.empty()) continue;
      for (const CollectiveCall& call : lane.calls) {
        if (call.gpu_start_ns != kNoTime && call.gpu_end_ns != kNoTime)
          calls_.push_back({call.gpu_start_ns, call.gpu_end_ns, lane.communicator});
      }
    }
    std::sort(calls_.begin(), calls_.end());
  }

  // Returns the communicator of the calls with exactly these times, else of the calls that contain them, among the last
  // kMostCalls calls that began. None if there are several communicators.
  std::int64_t of(std::int64_t start_ns, std::int64_t end_ns) const {
    std::int64_t found = kUnknown;
    bool several = false;
    const auto after =
        std::ranges::upper_bound(calls_, start_ns, {}, [](const Call& call) { return std::get<0>(call); });
    for (const bool same : {true, false}) {
      auto call = after;
      for (std::size_t looked = 0; call != calls_.begin() && looked < kMostCalls; ++looked) {
        const auto& [from_ns, to_ns, communicator] = *--call;
        if (same && from_ns != start_ns) break;
        if (same ? to_ns != end_ns : to_ns < end_ns) continue;
        several = several || (found != kUnknown && found != communicator);
        found = communicator;
      }
      if (found != kUnknown) break;
    }
    return several ? kUnknown : found;
  }

 private:
  using Call = std::tuple<std::int64_t, std::int64_t, CommunicatorId>;  // start, end
  static constexpr std::size_t kMostCalls = 256;
  std::vector<Call> calls_;
};

class OverlapTable : public Analysis {
 public:
  using Analysis::Analysis;

  void work(const GpuWork& work) override {
    if (work.work_class == WorkClass::memory) return;
    DeviceComm& device = devices_[{work.process, work.device}];
    if (work.work_class == WorkClass::compute) return device.compute(work.start_ns, work.end_ns);
    const auto& windows = context_.windows.of(work.process);
    for (std::size_t i = context_.windows.first_after(work.process, work.start_ns); i < windows.size(); ++i) {
      const std::int64_t start_ns = std::max(work.start_ns, windows[i].from_ns),
                         end_ns = std::min(work.end_ns, windows[i].to_ns);
      if (start_ns > end_ns) break;
      if (start_ns == end_ns && work.start_ns < work.end_ns) continue;
      device.comm({i, works_, {start_ns, 0}, {end_ns, 0}, work.start_ns, work.end_ns});
    }
    ++works_;
  }

  void end_of(ProcessId process) override {
    for (auto at = devices_.lower_bound({process, INT64_MIN}); at != devices_.end() && at->first.first == process; ++at)
      at->second.finish().shrink_to_fit();
  }

  void finish(ResultTable& table) override {
    bool shared = false;
    for (auto& [key, device] : devices_) {
      const CollectiveCalls& calls = context_.collectives->calls;
      const CommunicatorsByTime communicators(calls.processes[key.first], calls.communicators);
      // By the device's row, then communicator. Windows that are not steps share one row.
      Rows rows;
      std::vector<CommPiece>& pieces = device.finish();
      for (const CommPiece& piece : pieces) {
        const std::size_t row = by(GroupBy::step) ? piece.window : 0;
        rows[{row, communicators.of(piece.whole_start_ns, piece.whole_end_ns)}].push_back(&piece);
      }
      for (auto at = rows.cbegin(); at != rows.cend();) {
        const auto end = rows.lower_bound({at->first.first + 1, std::numeric_limits<std::int64_t>::min()});
        const std::vector<std::int64_t> alone_ns = times_alone(at, end);
        for (std::size_t i = 0; at != end; ++at, ++i) {
          const Sums own = sums_of(at->second);
          const std::int64_t shared_ns = own.comm_ns - alone_ns[i];
          shared = shared || shared_ns > 0;
          add_row(key, at->first, at->second, own, shared_ns, table);
        }
      }
    }
    if (shared)
      table.notes.push_back("some communicators ran at the same time; that shared time counts in the row of each");
  }

 private:
  struct Sums {
    std::int64_t comm_ns = 0, hidden_ns = 0;
  };

  using Rows = std::map<std::pair<std::size_t, std::int64_t>, std::vector<const CommPiece*>>;

  // Returns for each communicator the time in which it alone was active. One sweep over all starts and ends.
  static std::vector<std::int64_t> times_alone(Rows::const_iterator first, Rows::const_iterator end) {
    struct Edge {
      std::int64_t ns;
      bool is_end;
      std::size_t which;
      auto operator<=>(const Edge&) const = default;  // at equal times, starts come before ends
    };
    std::vector<Edge> edges;
    std::size_t count = 0;
    for (auto at = first; at != end; ++at, ++count) {
      for (const CommPiece* piece : at->second) {
        edges.push_back({piece->start.ns, false, count});
        edges.push_back({piece->end.ns, true, count});
      }
    }
    std::sort(edges.begin(), edges.end());
    std::vector<std::int64_t> alone_ns(count);
    std::vector<std::size_t> running(count);  // number of running pieces
    std::size_t working = 0,
                sum =
                    0;  // number of active communicators, and the sum of their indices: with one active it is its index
    std::int64_t since_ns = 0;
    for (const Edge& edge : edges) {
      if (working == 1) alone_ns[sum] += edge.ns - since_ns;
      since_ns = edge.ns;
      std::size_t& pieces = running[edge.which];
      if (!edge.is_end && pieces++ == 0) ++working, sum += edge.which;
      if (edge.is_end && --pieces == 0) --working, sum -= edge.which;
    }
    return alone_ns;
  }

  // Sums over the union of these pieces.
  static Sums sums_of(std::vector<const CommPiece*> pieces) {
    std::ranges::sort(pieces, {}, [](const CommPiece* piece) { return piece->start.ns; });
    Sums sums;
    Moment until;
    for (bool is_first = true; const CommPiece* piece : pieces) {
      const Moment& from = is_first || piece->start.ns > until.ns ? piece->start : until;
      if (is_first || piece->end.ns > until.ns) {
        sums.comm_ns += piece->end.ns - from.ns;
        sums.hidden_ns += piece->end.compute_ns - from.compute_ns;
        until = piece->end;
      }
      is_first = false;
    }
    return sums;
  }

  void add_row(const std::pair<ProcessId, std::int64_t>& key, const std::pair<std::size_t, std::int64_t>& which,
               const std::vector<const CommPiece*>& pieces, const Sums& sums, std::int64_t shared_ns,
               ResultTable& table) const {
    const auto& windows = context_.windows.of(key.first);
    std::vector<Cell>& cells = table.rows.emplace_back(device_cells(key.first, key.second, windows[which.first].step));
    const CollectiveCalls& calls = context_.collectives->calls;
    append_communicator(
        cells, which.second >= 0 ? calls.communicators[static_cast<std::size_t>(which.second)] : CommunicatorInfo());
    append(cells, works(pieces), sums.comm_ns, sums.hidden_ns, sums.comm_ns - sums.hidden_ns, shared_ns,
           percent(sums.hidden_ns, sums.comm_ns));
  }

  static std::int64_t works(const std::vector<const CommPiece*>& pieces) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) count += i == 0 || pieces[i]->work != pieces[i - 1]->work;
    return count;
  }

  std::map<std::pair<ProcessId, std::int64_t>, DeviceComm> devices_;
  std::uint64_t works_ = 0;
};

}  // namespace

AnalysisEntry overlap_analysis() {
  return analysis_entry<OverlapTable, overlap_columns>(
      {.name = "overlap",
       .meaning = "Hidden and exposed communication time of each communicator",
       .by = {GroupBy::none, GroupBy::step},
       .needs = {.collectives = true, .by_time = true}});
}

}  // namespace cli
