// Jobs of tensor, data and pipeline parallelism whose truth is known, as the collector gives them, for matching to be judged by.
//
// Each rank computes and meets others, in its own order. A collective ends when its last rank has come and its transfer is done, on each
// rank a little later than on the earliest. What a trace may lack is taken away: names, numbers, kernels, the beginning, the clock.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cli/timeline/collectives/call_collector.h"
#include "cli/timeline/collectives/match.h"

namespace cli {

enum class JobNames : std::uint8_t { all, no_numbers, some_ranks, none };
enum class JobTrouble : std::uint8_t { none, one_slow, late_in_turn };

struct ParallelJob {
  std::size_t tensor = 2, data = 4, pipeline = 1;
  std::size_t steps = 12, layers = 6, microbatches = 1;
  bool world = false;  // an all-reduce of all ranks ends each step
  JobNames names = JobNames::none;
  JobTrouble trouble = JobTrouble::none;
  double compute_ns = 300'000, compute_spread = 0.1, noise_ns = 4000;  // of ends
  double late_ns = 4e6;
  double most_offset_ns = 5e9, most_drift = 50e-6;
  std::size_t ranks_per_clock = 1;
  std::size_t lost = 0;        // kernels of the job
  double most_missing_ns = 0;  // of a rank's beginning
  std::uint64_t seed = 1;

  // One of many, by its seed.
  static ParallelJob drawn(std::uint64_t seed) {
    std::mt19937_64 random(seed * 7919 + 1);
    const auto one_of = [&](std::initializer_list<std::size_t> some) { return some.begin()[random() % some.size()]; };
    ParallelJob job;
    job.seed = seed;
    do {
      job.tensor = one_of({1, 2, 4, 8}), job.data = one_of({1, 2, 4, 8}), job.pipeline = one_of({1, 1, 2, 4});
    } while (job.ranks() < 2 || job.ranks() > 64);
    job.steps = one_of({8, 12, 20}), job.layers = one_of({2, 4, 8}),
    job.microbatches = job.pipeline > 1 ? one_of({2, 4}) : 1;
    job.world = random() % 4 == 0;
    job.names = static_cast<JobNames>(random() % 4);
    job.trouble = static_cast<JobTrouble>(random() % 3);
    job.compute_ns = static_cast<double>(one_of({100'000, 300'000, 1'000'000}));
    job.compute_spread = static_cast<double>(one_of({2, 10, 30})) / 100;
    job.noise_ns = static_cast<double>(one_of({1000, 4000, 15'000}));
    job.late_ns = static_cast<double>(one_of({1'000'000, 4'000'000, 10'000'000}));
    job.ranks_per_clock = one_of({1, 1, 8});
    job.lost = one_of({0, 0, 1, 4});
    job.most_missing_ns = static_cast<double>(one_of({0, 5'000'000}));
    return job;
  }
  std::size_t ranks() const { return tensor * data * pipeline; }
};

class ParallelJobCalls {
 public:
  Catalog catalog;
  CollectiveCalls calls;
  std::vector<std::vector<std::vector<std::uint64_t>>> truth;  // by process, lane and call: which collective it is

  explicit ParallelJobCalls(const ParallelJob& job) : job_(job), random_(job.seed) {
    const std::size_t ranks = job.ranks();
    calls.processes.resize(ranks), truth.resize(ranks), now_.assign(ranks, 1e6);
    double offset = 0, drift = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      Process process;
      process.rank = static_cast<std::int64_t>(rank), process.world_size = static_cast<std::int64_t>(ranks);
      process.state = RecordingState::clean;
      if (job.ranks_per_clock > 1) process.host = "node" + std::to_string(rank / job.ranks_per_clock);
      catalog.processes.push_back(process);
      if (rank % job.ranks_per_clock == 0) {
        offset = uniform(-job.most_offset_ns, job.most_offset_ns), drift = uniform(-job.most_drift, job.most_drift);
      }
      offset_ns_.push_back(offset), drift_.push_back(drift);
      missing_ns_.push_back(1e6 + uniform(0, job.most_missing_ns));
      slow_.push_back(1);
    }
    if (job.trouble == JobTrouble::one_slow) slow_[random_() % ranks] = uniform(1.2, 2);
    make_groups();
    for (std::size_t step = 0; step < job.steps; ++step) run_step();
    finish();
  }

  // Of the collectives that the trace has of several ranks, those that times prove: their group was in eight calls begun by one rank
  // clearly after all others, of whatever group of this kind, that end at this moment.
  std::set<std::uint64_t> provable() const {
    std::set<std::uint64_t> found;
    for (const Group& group : groups_) {
      if (job_.names == JobNames::all || proving_calls(group) >= 8)
        found.insert(group.numbers.begin(), group.numbers.end());
    }
    return found;
  }

 private:
  enum class GroupKind : std::uint8_t { tensor, data, pipeline, world };
  struct Meeting {
    std::vector<double> starts;
    double end = 0;
  };
  struct Group {
    GroupKind kind;
    std::vector<std::size_t> ranks;
    std::vector<std::uint64_t> numbers;  // of its collectives
    std::vector<Meeting> meetings;
  };
  static constexpr std::int64_t kBegin_ns = 1'700'000'000'000'000'000;

  double uniform(double lo, double hi) { return lo + (hi - lo) * static_cast<double>(random_() >> 11) * 0x1p-53; }
  double exponential(double mean) { return -std::log(1 - uniform(0, 1)) * mean; }

  std::size_t rank_at(std::size_t p, std::size_t d, std::size_t t) const {
    return (p * job_.data + d) * job_.tensor + t;
  }

  void add_group(GroupKind kind, std::vector<std::size_t> ranks) {
    if (ranks.size() > 1) groups_.push_back({kind, std::move(ranks), {}, {}});
  }

  void make_groups() {
    for (std::size_t p = 0; p < job_.pipeline; ++p) {
      for (std::size_t d = 0; d < job_.data; ++d) {
        std::vector<std::size_t> some;
        for (std::size_t t = 0; t < job_.tensor; ++t) some.push_back(rank_at(p, d, t));
        add_group(GroupKind::tensor, some);
      }
      for (std::size_t t = 0; t < job_.tensor; ++t) {
        std::vector<std::size_t> some;
        for (std::size_t d = 0; d < job_.data; ++d) some.push_back(rank_at(p, d, t));
        add_group(GroupKind::data, some);
        for (std::size_t d = 0; p + 1 < job_.pipeline && d < job_.data; ++d)
          add_group(GroupKind::pipeline, {rank_at(p, d, t), rank_at(p + 1, d, t)});
      }
    }
    std::vector<std::size_t> all;
    for (std::size_t rank = 0; rank < job_.ranks(); ++rank) all.push_back(rank);
    if (job_.world) add_group(GroupKind::world, all);
  }

  void meet(Group& group, double transfer_ns) {
    Meeting meeting;
    double last = 0;
    for (const std::size_t rank : group.ranks) meeting.starts.push_back(now_[rank]), last = std::max(last, now_[rank]);
    meeting.end = last + transfer_ns * uniform(1, 1.05);
    group.numbers.push_back(next_);
    for (std::size_t i = 0; i < group.ranks.size(); ++i) {
      const std::size_t rank = group.ranks[i];
      const double end = meeting.end + std::min(exponential(job_.noise_ns), 12 * job_.noise_ns);
      made_[rank][&group].push_back({next_, now_[rank], end});
      now_[rank] = end + uniform(1000, 3000);
    }
    group.meetings.push_back(std::move(meeting));
    ++next_;
  }
  void meet_all(GroupKind kind, double transfer_ns, std::size_t stage) {
    for (Group& group : groups_) {
      const bool is_here = group.kind == GroupKind::world || group.ranks[0] / (job_.data * job_.tensor) == stage;
      if (group.kind == kind && is_here) meet(group, transfer_ns);
    }
  }
  void compute(std::size_t stage, double share) {
    for (std::size_t at = 0; at < job_.data * job_.tensor; ++at) {
      const std::size_t rank = stage * job_.data * job_.tensor + at;
      now_[rank] += job_.compute_ns * share * slow_[rank] * uniform(1 - job_.compute_spread, 1 + job_.compute_spread);
    }
  }

  void run_step() {
    if (job_.trouble == JobTrouble::late_in_turn) now_[turn_++ % job_.ranks()] += job_.late_ns * uniform(0.7, 1.3);
    for (const bool forward : {true, false}) {
      for (std::size_t batch = 0; batch < job_.microbatches; ++batch) {
        for (std::size_t i = 0; i < job_.pipeline; ++i) {
          const std::size_t stage = forward ? i : job_.pipeline - 1 - i;
          for (std::size_t layer = 0; layer < job_.layers; ++layer) {
            compute(stage, forward ? 1 : 2);
            meet_all(GroupKind::tensor, 60'000, stage);
          }
          if (forward ? stage + 1 < job_.pipeline : stage > 0)
            meet_all(GroupKind::pipeline, 80'000, forward ? stage : stage - 1);
        }
      }
    }
    for (std::size_t bucket = 0; bucket < 2; ++bucket) {
      for (std::size_t stage = 0; stage < job_.pipeline; ++stage) {
        compute(stage, 0.5);
        meet_all(GroupKind::data, 900'000, stage);
      }
    }
    for (std::size_t stage = 0; stage < job_.pipeline; ++stage) compute(stage, 0.5);
    meet_all(GroupKind::world, 40'000, 0);
  }

  std::int64_t clock(std::size_t rank, double ns) const {
    return kBegin_ns + std::llround(ns + offset_ns_[rank] + drift_[rank] * ns);
  }

  void finish() {
    std::vector<std::uint64_t> lost;
    for (std::size_t i = 0; i < job_.lost; ++i) lost.push_back(random_() % (next_ * 2));  // of some rank of it
    CommunicatorId unnamed = 0;
    std::map<const Group*, CommunicatorId> communicators;
    const auto add = [&](std::string label, std::int64_t size) {
      CommunicatorInfo info;
      info.label = std::move(label), info.size = size;
      calls.communicators.push_back(info);
      return static_cast<CommunicatorId>(calls.communicators.size() - 1);
    };
    unnamed = add("", -1);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (job_.names != JobNames::none)
        communicators[&groups_[i]] = add("group" + std::to_string(i), std::ssize(groups_[i].ranks));
    }
    for (std::size_t rank = 0; rank < job_.ranks(); ++rank) {
      const bool is_named = job_.names == JobNames::all || job_.names == JobNames::no_numbers ||
                            (job_.names == JobNames::some_ranks && rank % 2 == 0);
      for (const Group& group : groups_) {
        const auto own = made_[rank].find(&group);
        if (own == made_[rank].end()) continue;
        CollectiveLane lane;
        lane.communicator = is_named ? communicators.at(&group) : unnamed;
        lane.numbering = job_.names == JobNames::all ? Numbering::numbered : Numbering::counted;
        CollectiveWhat what;
        what.operation = group.kind == GroupKind::pipeline ? Operation::send_receive : Operation::all_reduce;
        if (is_named && group.kind != GroupKind::pipeline)
          what.buffer_bytes = group.kind == GroupKind::tensor ? 1 << 20 : 1 << 28;
        const WhatId id = calls.whats.intern(what);
        std::vector<std::uint64_t> numbers;
        for (std::size_t i = 0; i < own->second.size(); ++i) {
          const Made& made = own->second[i];
          const bool is_first = group.ranks[0] == rank;
          if (made.start < missing_ns_[rank] || std::count(lost.begin(), lost.end(), made.number * 2 + !is_first) > 0)
            continue;
          CollectiveCall call;
          call.gpu_start_ns = clock(rank, made.start), call.gpu_end_ns = clock(rank, made.end);
          call.what = id;
          call.position = lane.numbering == Numbering::numbered ? static_cast<std::int64_t>(i) : std::ssize(lane.calls);
          lane.calls.push_back(call);
          numbers.push_back(made.number);
        }
        if (lane.calls.empty()) continue;
        calls.processes[rank].lanes.push_back(std::move(lane));
        truth[rank].push_back(std::move(numbers));
      }
    }
  }

  std::size_t proving_calls(const Group& group) const {
    const double near = 16 * job_.noise_ns;
    std::size_t found = 0;
    for (std::size_t i = 0; i < group.meetings.size(); ++i) {
      std::vector<double> starts;
      for (const Group& other : groups_) {
        const bool has_it = other.kind == group.kind && i < other.meetings.size();
        if (&other == &group || (has_it && std::abs(other.meetings[i].end - group.meetings[i].end) < near)) {
          starts.insert(starts.end(), other.meetings[i].starts.begin(), other.meetings[i].starts.end());
        }
      }
      const double last = *std::max_element(group.meetings[i].starts.begin(), group.meetings[i].starts.end());
      found += std::count_if(starts.begin(), starts.end(), [&](double start) { return start > last - 2 * near; }) == 1;
    }
    return found;
  }

  struct Made {
    std::uint64_t number;
    double start, end;
  };

  ParallelJob job_;
  std::mt19937_64 random_;
  std::vector<Group> groups_;
  std::vector<double> now_, offset_ns_, drift_, missing_ns_, slow_;
  std::map<std::size_t, std::map<const Group*, std::vector<Made>>> made_;  // by rank
  std::uint64_t next_ = 0;                                                 // number of a collective
  std::size_t turn_ = 0;
};

// How matching did, by pairs of calls: the first call of each true collective with every other one of it.
struct ParallelScore {
  std::size_t right = 0, wrong = 0, provable = 0, proved = 0;
  std::size_t false_complete = 0;  // collectives that are said to be complete, and of which the trace has more calls

  ParallelScore& operator+=(const ParallelScore& other) {
    right += other.right, wrong += other.wrong, provable += other.provable, proved += other.proved,
        false_complete += other.false_complete;
    return *this;
  }
};

inline ParallelScore judge(const ParallelJobCalls& job, const MatchedCollectives& matched) {
  ParallelScore score;
  const std::set<std::uint64_t> provable = job.provable();
  std::map<std::uint64_t, std::size_t> all;  // how many calls of each the trace has
  for (const auto& process : job.truth) {
    for (const auto& lane : process) {
      for (const std::uint64_t each : lane) ++all[each];
    }
  }
  for (const auto& [number, count] : all) score.provable += provable.count(number) != 0 ? count - 1 : 0;
  for (const MatchedCollective& each : matched.collectives) {
    std::map<std::uint64_t, std::size_t> numbers;
    for (const MatchedCall& call : matched.calls_of(each)) ++numbers[job.truth[call.process][call.lane][call.call]];
    for (const auto& [number, count] : numbers) {
      score.right += count - 1;
      if (provable.count(number) != 0) score.proved += count - 1;
    }
    score.wrong += numbers.size() - 1;
    const std::uint64_t number = numbers.begin()->first;
    score.false_complete +=
        each.state == CollectiveState::complete && numbers.size() == 1 && numbers.begin()->second < all.at(number);
  }
  return score;
}

}  // namespace cli
