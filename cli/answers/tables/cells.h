// Columns and cells that several tables share.
#pragma once
#include "cli/answers/tables/analysis.h"
#include "cli/base/text.h"
#include "cli/timeline/collectives/operations.h"

namespace cli {

// Returns an empty cell if `whole` is 0.
inline Cell percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? Cell(100.0 * static_cast<double>(part) / static_cast<double>(whole)) : Cell();
}

// Returns pointers to the entries of a map, by order(entry); equal ones in the order of the map.
template <typename Map, typename Order>
auto sorted_entries(Map& map, Order&& order) {
  std::vector<decltype(&*map.begin())> sorted;
  for (auto& entry : map) sorted.push_back(&entry);
  std::stable_sort(sorted.begin(), sorted.end(), [&](auto* a, auto* b) { return order(*a) < order(*b); });
  return sorted;
}

inline constexpr Column kRankColumn{"rank", Unit::number, "Rank of the process in the job"};
inline constexpr Column kPhaseColumn{"phase", Unit::text, "Phase of the run, if a rank has several files"};

// The columns that identify a row's process.
inline std::vector<Column> process_columns(RowKeys keys) {
  return keys.phases ? std::vector{kRankColumn, kPhaseColumn} : std::vector{kRankColumn};
}
inline std::vector<Column> joined(std::vector<Column> first, const std::vector<Column>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}
inline constexpr Column kDeviceColumn{"device", Unit::number, "CUDA ordinal of the GPU in the process"};
inline constexpr Column kStepColumn{
    "step", Unit::number, "Number of the training step, from the program or counted if the program names none"};

// Returns the first columns of a table that has rows per rank only with --by rank.
inline std::vector<Column> rank_columns(RowKeys keys) {
  return keys.by == GroupBy::rank ? process_columns(keys) : std::vector<Column>();
}
// The first columns of tables of processes and of devices, which may have rows per step.
inline std::vector<Column> step_columns(RowKeys keys) {
  return keys.by == GroupBy::step ? joined(process_columns(keys), {kStepColumn}) : process_columns(keys);
}
inline std::vector<Column> device_columns(RowKeys keys) {
  std::vector<Column> columns = joined(process_columns(keys), {kDeviceColumn});
  return keys.by == GroupBy::step ? joined(std::move(columns), {kStepColumn}) : columns;
}

// Columns that the tables of collectives share.
inline constexpr Column kCommunicatorColumn{
    "communicator", Unit::text,
    "NCCL's hash of the communicator, or PyTorch's name of the process group; empty if unknown"};
inline constexpr Column kDescriptionColumn{"description", Unit::text, "PyTorch's description of the process group"};
inline constexpr Column kEpochColumn{
    "epoch", Unit::number, "Number of this communicator among those with the same hash, from 1; empty if unknown"};
inline constexpr Column kOperationColumn{"op", Unit::text, "Operation"};

inline void append_communicator(std::vector<Cell>& cells, const CommunicatorInfo& info) {
  append(cells, text_cell(info.label), text_cell(info.description), info.epoch > 0 ? cell_of(info.epoch) : Cell());
}

// Returns decimal GB/s, which equals bytes per nanosecond.
inline std::optional<double> gb_per_s(std::optional<std::int64_t> bytes, std::optional<std::int64_t> ns) {
  if (!bytes || !ns || *ns <= 0) return {};
  return static_cast<double>(*bytes) / static_cast<double>(*ns);
}

inline std::int64_t rank_of(const Catalog& catalog, const MatchedCall& call) {
  return catalog.processes[call.process].rank;
}

// Returns, for example, "all_reduce 17 of communicator 0x00000000c0ffee00".
inline std::string collective_text(const TraceCollectives& collectives, const MatchedCollective& collective) {
  const std::string& label =
      collectives.calls.communicators[collectives.matched.groups[collective.group].communicator].label;
  return std::string(operation_name(collectives.calls.whats[collective.what].operation)) + " " +
         std::to_string(collective.ordinal) + (label.empty() ? "" : " of communicator " + label);
}

// Returns true if the collective overlaps the chosen time and a chosen rank takes part in it.
inline bool is_shown(const AnalysisContext& context, const MatchedCollective& collective) {
  const auto& [calls, matched, clocks] = *context.collectives;
  for (const MatchedCall& each : matched.calls_of(collective)) {
    if (!context.chosen[each.process]) continue;
    const CollectiveCall& call = call_of(calls, each);
    const std::int64_t start_ns = call.gpu_start_ns != kNoTime ? call.gpu_start_ns : call.host_start_ns;
    if (start_ns == kNoTime || context.windows.hold(each.process, start_ns, std::max(start_ns, call.gpu_end_ns)))
      return true;
  }
  return false;
}

// Returns for each process the one of these collectives that ended last on it; null if none did.
inline std::vector<const MatchedCollective*> last_to_end(const TraceCollectives& collectives,
                                                         const std::vector<const MatchedCollective*>& some,
                                                         std::size_t processes) {
  std::vector<const MatchedCollective*> last(processes);
  std::vector<std::int64_t> ends_ns(processes, kNoTime);
  for (const MatchedCollective* collective : some) {
    for (const MatchedCall& each : collectives.matched.calls_of(*collective)) {
      const std::int64_t end_ns = call_of(collectives.calls, each).gpu_end_ns;
      if (end_ns > ends_ns[each.process]) ends_ns[each.process] = end_ns, last[each.process] = collective;
    }
  }
  return last;
}

// Returns notes about rejected and ambiguous collectives and about the clocks by which times are compared.
inline std::vector<std::string> collective_notes(const AnalysisContext& context) {
  const auto& [calls, matched, clocks] = *context.collectives;
  std::vector<std::string> notes = matched.notes;
  for (const MatchRefusal& refusal : matched.refusals) {
    const CommunicatorInfo& info = calls.communicators[refusal.communicator];
    const Process& process = context.catalog.processes[refusal.process];
    notes.push_back((process.rank >= 0 ? "rank " + std::to_string(process.rank) : process.source) + ": " +
                    std::to_string(refusal.calls) + " collectives of " +
                    (info.label.empty() ? "an unknown communicator" : "communicator " + info.label) +
                    " are not matched: " + refusal.why);
  }
  return notes;
}

// Notes that several tables share.

// Appends a note about ranges and calls without an end. They were never popped, or were still open when the program
// ended.
inline void append_endless_note(std::vector<std::string>& notes, std::uint64_t count, std::string_view one) {
  if (count > 0)
    notes.push_back(count_text(count, one) + " had not ended when the trace ended; their host time is unknown");
}

// Counts the launches without GPU work in the trace. Profilers lose whole graphs or all work, and a GPU that then looks
// idle may have been busy. A few launches without work are normal, because some run nothing (a copy of 0 bytes).
class LaunchesWithoutWork {
 public:
  explicit LaunchesWithoutWork(std::size_t processes) : has_work_(processes) {}

  // Registers a launch by its slot among the calls of its process (LaunchCalls), which it keeps until another call
  // takes it.
  void launch(ProcessId process, std::uint32_t place) {
    std::vector<bool>& has_work = has_work_[process];
    if (place >= has_work.size()) has_work.resize(place + std::size_t{1});
    has_work[place] = false;
    ++launches_;
  }
  void work(ProcessId process, std::uint32_t place) {
    std::vector<bool>& has_work = has_work_[process];
    if (place >= has_work.size() || has_work[place]) return;
    has_work[place] = true;
    ++with_work_;
  }

  // Call it after the process's last event.
  void forget(ProcessId process) { std::vector<bool>().swap(has_work_[process]); }

  // Registers work whose launch is not among the calls so far. Because clocks differ slightly, it may begin before its
  // launch.
  void work_without_launch() { ++early_work_; }

  bool are_many() const { return missing() * kFew > launches_; }
  // Returns, for example, "80 of 84 launches have no GPU work in this trace"; "" if there are only a few.
  std::string text() const {
    if (!are_many()) return {};
    return fmt::format("{} of {} no GPU work in this trace: busy is a lower bound, idle an upper bound", missing(),
                       count_text(launches_, "launch has", "launches have"));
  }

 private:
  std::uint64_t missing() const { return launches_ - std::min(launches_, with_work_ + early_work_); }

  static constexpr std::uint64_t kFew = 10;  // up to one in ten counts as few

  std::vector<std::vector<bool>> has_work_;  // by ProcessId and slot
  std::uint64_t launches_ = 0, with_work_ = 0, early_work_ = 0;
};

}  // namespace cli
