#include "cli/timeline/collectives/joined_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "cli/timeline/gpu/work_classes.h"
#include "cli/trace/event_times.h"

namespace cli {
namespace {

// Limit for joining sends and receives that NCCL launched together, as in an all-to-all, because n ranks would have n *
// n flows.
constexpr std::size_t kMostPairsOfGroup = 8;

// Minimum margin before and after chosen times; a group of NCCL calls is shorter.
constexpr std::int64_t kLeastNear_ns = 10'000'000;

class Joiner {
 public:
  Joiner(const CollectiveCalls& calls, const Catalog& catalog, const Wanted& chosen)
      : calls_(calls), catalog_(catalog), chosen_(chosen), matched_(match_collectives(calls, catalog)) {
    joined_.calls.resize(catalog.processes.size());
    joined_.parts.resize(catalog.processes.size());
    joined_.communicators = calls.communicators;
    count_pairs();
  }

  JoinedCollectives take() {
    for (const MatchedCollective& each : matched_.collectives) {
      const auto some = matched_.calls_of(each);
      if (!is_chosen(some)) continue;
      const auto is_timed = [&](const MatchedCall& call) { return call_of(calls_, call).gpu_start_ns != kNoTime; };
      if (std::count_if(some.begin(), some.end(), is_timed) < 2) continue;
      ++known_;
      if (!times_of(matched_, calls_, each).all_started) continue;  // the last rank may be one that is not in the trace
      if (each.point_to_point &&
          std::any_of(some.begin(), some.end(), [&](const MatchedCall& call) { return has_many_pairs(call); }))
        continue;
      join(each, some);
    }
    for (auto& some : joined_.calls)
      std::stable_sort(some.begin(), some.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    for (auto& some : joined_.parts) {
      std::stable_sort(some.begin(), some.end(), [](const auto& a, const auto& b) {
        return std::tie(a.start_ns, b.end_ns) < std::tie(b.start_ns, a.end_ns);
      });
    }
    note();
    return std::move(joined_);
  }

  // Only events that were read can affect the chosen collectives.
  bool is_certain() const {
    const auto is_numbered = [](const CollectiveLane& lane) { return lane.numbering == Numbering::numbered; };
    for (const ProcessCalls& process : calls_.processes) {
      if (!std::all_of(process.lanes.begin(), process.lanes.end(), is_numbered)) return false;
    }
    return matched_.refusals.empty() && std::all_of(matched_.collectives.begin(), matched_.collectives.end(),
                                                    [&](const auto& each) { return is_certain(each); });
  }

 private:
  bool is_certain(const MatchedCollective& each) const {
    const auto some = matched_.calls_of(each);
    if (!is_chosen(some)) return true;
    const MatchedGroup& group = matched_.groups[each.group];
    const bool is_whole = each.point_to_point
                              ? some.size() == 2
                              : group.size_is_told && some.size() == static_cast<std::size_t>(group.size);
    return is_whole && std::ranges::all_of(
                           some, [&](const MatchedCall& call) { return call_of(calls_, call).gpu_end_ns != kNoTime; });
  }

  bool is_chosen(std::span<const MatchedCall> some) const {
    return std::any_of(some.begin(), some.end(), [&](const MatchedCall& call) { return is_chosen(call); });
  }
  // Returns true if the call, or its work, is of a chosen process and runs at a chosen time.
  bool is_chosen(const MatchedCall& which) const {
    if (!chosen_.has(which.process) || chosen_.times.empty()) return chosen_.has(which.process);
    const CollectiveCall& call = call_of(calls_, which);
    const auto runs = [&](std::int64_t from_ns, std::int64_t to_ns) {
      const auto& times = chosen_.times[which.process];
      return from_ns != kNoTime && std::any_of(times.begin(), times.end(), [&](const auto& time) {
               return from_ns < time.second && std::max(from_ns, to_ns) >= time.first;
             });
    };
    return runs(call.host_start_ns, call.host_end_ns) || runs(call.gpu_start_ns, call.gpu_end_ns);
  }

  static std::uint64_t key(ProcessId process, std::uint32_t group) { return std::uint64_t{process} << 32 | group; }

  void count_pairs() {
    for (ProcessId id = 0; id < calls_.processes.size(); ++id) {
      for (const CollectiveLane& lane : calls_.processes[id].lanes) {
        if (!lane.point_to_point) continue;
        for (const CollectiveCall& call : lane.calls) {
          if (call.group != 0) ++pairs_[key(id, call.group)];
        }
      }
    }
  }
  bool has_many_pairs(const MatchedCall& call) const {
    const auto found = pairs_.find(key(call.process, call_of(calls_, call).group));
    return found != pairs_.end() && found->second > kMostPairsOfGroup;
  }

  void join(const MatchedCollective& each, std::span<const MatchedCall> some) {
    const MatchedGroup& group = matched_.groups[each.group];
    const CommunicatorInfo& communicator = joined_.communicators[group.communicator];
    const CollectiveTimes times = times_of(matched_, calls_, each);
    const auto index = static_cast<std::uint32_t>(joined_.collectives.size());
    JoinedCollective& made = joined_.collectives.emplace_back();
    made.communicator = communicator.label;
    made.description = communicator.description;
    made.group = each.group;
    made.epoch = communicator.epoch;
    made.operation = calls_.whats[each.what].operation;
    made.bytes = size_of(matched_, calls_, each).value_or(-1);
    made.ordinal = each.ordinal;
    made.last_rank = catalog_.processes[some[times.last_call].process].rank;
    made.ranks = ranks_of(matched_, each);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const CollectiveCall& call = call_of(calls_, some[i]);
      if (call.gpu_start_ns == kNoTime) continue;
      joined_.calls[some[i].process].push_back(
          {call.gpu_start_ns, times.last_start_ns, index, call.gpu_track, call.gpu_name, i == times.last_call});
      if (times.transfer_ns) add_parts(some[i].process, call, times.last_start_ns, index);
    }
    divided_ += times.transfer_ns.has_value();
  }

  void add_parts(ProcessId process, const CollectiveCall& call, std::int64_t last_start_ns, std::uint32_t collective) {
    const auto device = static_cast<std::int32_t>(catalog_.tracks[call.gpu_track].group);
    auto& parts = joined_.parts[process];
    const auto add = [&](std::int64_t from_ns, std::int64_t to_ns, CollectivePart part) {
      parts.push_back({from_ns, to_ns, device, collective, part, to_ns - from_ns});
    };
    if (call.gpu_start_ns < last_start_ns) add(call.gpu_start_ns, last_start_ns, CollectivePart::wait);
    if (call.gpu_end_ns >= last_start_ns) add(last_start_ns, call.gpu_end_ns, CollectivePart::transfer);
  }

  void note() {
    if (divided_ < known_) {
      joined_.notes.push_back(fmt::format(
          "{} of {} collectives have no wait and transfer: some ranks do not depend on all others, or are unknown",
          known_ - divided_, known_));
    }
    std::uint64_t refused = 0;
    for (const MatchRefusal& each : matched_.refusals) refused += each.calls;
    if (refused > 0)
      joined_.notes.push_back(fmt::format(
          "{} collective calls are not matched across ranks: analyze --only collectives prints the reasons", refused));
  }

  const CollectiveCalls& calls_;
  const Catalog& catalog_;
  const Wanted& chosen_;
  const MatchedCollectives matched_;
  std::unordered_map<std::uint64_t, std::size_t> pairs_;  // by process and group
  std::size_t known_ = 0;                                 // collectives with more than one known rank
  std::size_t divided_ = 0;                               // of these, those divided into wait and transfer
  JoinedCollectives joined_;
};

}  // namespace

CollectiveJoin::CollectiveJoin(const Catalog& catalog, std::uint64_t most_calls)
    : catalog_(catalog),
      left_(most_calls),
      names_(catalog.strings),
      collector_(make_call_collector(catalog, CallDetail::calls)) {}

Wanted CollectiveJoin::wanted() {
  Wanted all;
  all.kinds = WorkClasses::kinds() | kinds_of({Kind::cpu_op, Kind::user_annotation});
  all.any_order_of_processes = true;
  return all;
}

void CollectiveJoin::event(const Event& event, const Facts& facts) {
  if (collector_ == nullptr) return;
  if (event.kind == Kind::nccl || (event.kind == Kind::kernel && names_[event.name].communicates)) {
    if (left_ == 0) return collector_.reset();
    --left_;
  }
  const bool is_elsewhere = is_gpu_work(event.kind) && catalog_.tracks[event.track].kind != TrackKind::stream;
  if (!is_elsewhere) collector_->event(event, facts, false);
}

JoinedCollectives CollectiveJoin::take(const Wanted& chosen) {
  if (collector_ != nullptr) return join_collectives(collector_->take(), catalog_, chosen);
  JoinedCollectives none;
  none.notes.push_back("too many collective calls to match across ranks: no tracks of collectives are written");
  return none;
}

// The chosen times, extended on both sides by half of their length.
Wanted CollectiveJoin::wanted_near(const Wanted& chosen) {
  Wanted::Intervals all;
  for (std::size_t process = 0; process < chosen.times.size(); ++process) {
    if (!chosen.has(process)) continue;
    for (const auto& [from_ns, to_ns] : chosen.times[process]) {
      const std::int64_t from = sane_ns(from_ns), to = sane_ns(to_ns),
                         beside = std::max((to - from) / 2, kLeastNear_ns);
      if (from < to) all.push_back({sane_ns(from - beside), sane_ns(to + beside)});
    }
  }
  join_intervals(all);
  Wanted near = wanted();
  near.times.assign(chosen.times.size(), all);
  return near;
}

std::optional<JoinedCollectives> CollectiveJoin::take_near(const Wanted& chosen) {
  if (collector_ == nullptr) return std::nullopt;
  const CollectiveCalls calls = collector_->take();
  Joiner joiner(calls, catalog_, chosen);
  if (!joiner.is_certain()) return std::nullopt;
  return joiner.take();
}

JoinedCollectives join_collectives(CollectiveCalls calls, const Catalog& catalog, const Wanted& chosen) {
  return Joiner(calls, catalog, chosen).take();
}

}  // namespace cli
