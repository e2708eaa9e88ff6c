// Jobs of whose ranks some are late on purpose: collectives as they are matched, with what each GPU did before. For how long the others wait
// for a rank, and for whom, is known. Runs of a seed are the same with any compiler.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cli/timeline/collectives/stragglers.h"

namespace cli {

enum class MadeNoise : std::uint8_t { small, exponential, heavy_tails, hiccups, bursts, count_ };

struct MadeLateJob {
  std::size_t ranks = 8;
  std::size_t tensor =
      1;  // ranks of a tensor-parallel group, which meet before each collective over the data-parallel ones; 1: one group of all
  std::size_t steps = 40, buckets = 4;
  bool hidden = false;  // the collectives of a step but the last overlap with its compute
  MadeNoise noise = MadeNoise::small;
  double speed = 0;  // each rank computes longer by up to so much, always
  std::vector<std::size_t> stragglers;
  bool in_turn = false;        // one in each step; else all of them
  double often = 1;            // in this share of the steps
  double from = 0, until = 1;  // in this part of the run
  double late = 0.2;           // of a step's compute
  std::uint64_t seed = 1;
};

class MadeLateness {
 public:
  CollectiveCalls calls;
  MatchedCollectives matched;
  std::vector<std::uint32_t> chosen;
  ClockKnowledge clocks;
  double span_ns = 0;
  std::vector<double> waited_ns;  // by rank, of the stragglers: how long the others waited for it, and not for another
  double chance_ns = 0;           // the same for each of the others in the mean, were no straggler late

  explicit MadeLateness(const MadeLateJob& job) : job_(job), random_(job.seed), ranks_(job.ranks) {
    waited_ns.resize(job.ranks);
    CollectiveWhat what;
    what.operation = Operation::all_reduce;
    what_ = calls.whats.intern(what);
    calls.processes.resize(job.ranks);
    clocks.domains.assign(job.ranks, 0);
    clocks.errors_ns.resize(job.ranks);
    for (Rank& rank : ranks_) rank.slower = 1 + uniform(0, job.speed);
    const std::size_t places = job.tensor, hosts = job.ranks / job.tensor;
    if (places > 1) {
      for (std::size_t host = 0; host < hosts; ++host) add_group(host * places, 1, places);
    }
    for (std::size_t place = 0; place < places; ++place) add_group(place, places, hosts);
    for (std::size_t step = 0; step < job.steps; ++step) run_step(step);
    add_collectives();
    for (const Rank& rank : ranks_) span_ns = std::max(span_ns, rank.done);
  }

  // Whether the others wait for each straggler 5 % of the time, and twice as long as for one of the others by chance.
  bool is_clear() const {
    return std::all_of(job_.stragglers.begin(), job_.stragglers.end(), [&](std::size_t rank) {
      return waited_ns[rank] * 20 >= span_ns && waited_ns[rank] >= 2 * chance_ns;
    });
  }
  Lateness lateness() const { return find_stragglers(calls, matched, chosen, clocks); }

 private:
  struct Rank {
    double done = 0;  // its compute, until then
    double sent = 0;  // its collectives, until then
    double slower = 1;
    std::size_t disturbed = 0;  // for so many more computations
    GpuAccounts spent;
  };
  struct Group {
    std::vector<ProcessId> members;
    std::vector<std::vector<CollectiveCall>> calls;  // by collective, then member
  };

  // std::uniform_real_distribution differs between libraries.
  double uniform(double lo, double hi) { return lo + (hi - lo) * static_cast<double>(random_() >> 11) * 0x1p-53; }

  // What a computation takes longer than it would, as a share of it.
  double noise(Rank& rank) {
    const double drawn = uniform(0, 1);
    switch (job_.noise) {
      case MadeNoise::exponential:
        return -0.05 * std::log(1 - drawn);
      case MadeNoise::heavy_tails:
        return 0.01 * (std::pow(1 - drawn, -1 / 1.5) - 1);
      case MadeNoise::hiccups:
        return uniform(0, 0.01) + (drawn < 0.04 / static_cast<double>(job_.ranks) ? 3 : 0);
      case MadeNoise::bursts:
        if (rank.disturbed == 0 && drawn < 0.1 / static_cast<double>(job_.ranks)) rank.disturbed = 1 + random_() % 3;
        if (rank.disturbed > 0) return --rank.disturbed, uniform(0.2, 0.6);
        return uniform(0, 0.02);
      case MadeNoise::small:
      case MadeNoise::count_:
        break;
    }
    return uniform(0, 0.02);
  }

  void add_group(std::size_t first, std::size_t stride, std::size_t count) {
    Group group;
    for (std::size_t i = 0; i < count; ++i) group.members.push_back(static_cast<ProcessId>(first + i * stride));
    groups_.push_back(std::move(group));
  }

  void run_step(std::size_t step) {
    const double at = static_cast<double>(step) / static_cast<double>(job_.steps);
    std::set<std::size_t> late;
    if (!job_.stragglers.empty() && at >= job_.from && at < job_.until && uniform(0, 1) < job_.often) {
      if (job_.in_turn)
        late.insert(job_.stragglers[turn_++ % job_.stragglers.size()]);
      else
        late.insert(job_.stragglers.begin(), job_.stragglers.end());
    }
    const std::size_t delayed_before = random_() % job_.buckets;
    const std::size_t hosts = job_.tensor > 1 ? job_.ranks / job_.tensor : 0;
    for (std::size_t bucket = 0; bucket < job_.buckets; ++bucket) {
      for (std::size_t id = 0; id < job_.ranks; ++id) {
        Rank& rank = ranks_[id];
        const double compute_ns = kCompute_ns * rank.slower * (1 + noise(rank));
        const double late_ns = late.count(id) > 0 && bucket == delayed_before
                                   ? job_.late * kCompute_ns * static_cast<double>(job_.buckets) * uniform(0.9, 1.1)
                                   : 0;
        rank.spent.compute_ns += static_cast<std::int64_t>(compute_ns);
        rank.spent.idle_ns += static_cast<std::int64_t>(late_ns);
        rank.done += compute_ns + late_ns;
      }
      const bool held = !job_.hidden || bucket + 1 == job_.buckets;
      for (std::size_t group = 0; group < hosts; ++group) meet(groups_[group], true);
      for (std::size_t group = hosts; group < groups_.size(); ++group) meet(groups_[group], held);
    }
  }

  // `held`: compute goes on when the collective has ended.
  void meet(Group& group, bool held) {
    double end = 0;
    for (const ProcessId id : group.members) end = std::max({end, ranks_[id].done, ranks_[id].sent});
    const auto is_planted = [&](ProcessId id) {
      return std::find(job_.stragglers.begin(), job_.stragglers.end(), id) != job_.stragglers.end();
    };
    std::vector<double> others;  // starts of those that are not late on purpose
    for (const ProcessId id : group.members) {
      if (!is_planted(id)) others.push_back(std::max(ranks_[id].done, ranks_[id].sent));
    }
    std::sort(others.rbegin(), others.rend());
    for (const ProcessId id : group.members) {
      if (is_planted(id) && !others.empty())
        waited_ns[id] += std::max(0.0, std::max(ranks_[id].done, ranks_[id].sent) - others[0]);
    }
    if (others.size() > 1)
      chance_ns += (others[0] - others[1]) / static_cast<double>(job_.ranks - job_.stragglers.size());
    end += 0.05 * kCompute_ns;
    auto& some = group.calls.emplace_back();
    for (const ProcessId id : group.members) {
      Rank& rank = ranks_[id];
      const double start = std::max(rank.done, rank.sent), exposed = held ? end - start : 0;
      CollectiveCall& call = some.emplace_back();
      call.what = what_, call.gpu_start_ns = static_cast<std::int64_t>(start),
      call.gpu_end_ns = static_cast<std::int64_t>(end);
      call.exposed_ns = static_cast<std::int64_t>(exposed);
      call.before = rank.spent;
      rank.spent.communication_ns += call.exposed_ns;
      rank.sent = end;
      if (held) rank.done = end;
    }
  }

  void add_collectives() {
    for (std::uint32_t group = 0; group < groups_.size(); ++group) {
      calls.communicators.emplace_back();
      matched.groups.push_back(
          {group, groups_[group].members, static_cast<std::int64_t>(groups_[group].members.size()), true});
      for (const ProcessId id : groups_[group].members) calls.processes[id].lanes.emplace_back().communicator = group;
      for (const auto& some : groups_[group].calls) {
        MatchedCollective collective;
        collective.group = group, collective.what = what_;
        collective.first_call = static_cast<std::uint32_t>(matched.calls.size()),
        collective.calls = static_cast<std::uint32_t>(some.size());
        for (std::size_t i = 0; i < some.size(); ++i) {
          const ProcessId id = groups_[group].members[i];
          auto& lanes = calls.processes[id].lanes;
          matched.calls.push_back({id, static_cast<std::uint32_t>(lanes.size() - 1),
                                   static_cast<std::uint32_t>(lanes.back().calls.size())});
          lanes.back().calls.push_back(some[i]);
        }
        chosen.push_back(static_cast<std::uint32_t>(matched.collectives.size()));
        matched.collectives.push_back(collective);
      }
    }
  }

  static constexpr double kCompute_ns = 1e6;

  MadeLateJob job_;
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  std::vector<Group> groups_;
  WhatId what_ = 0;
  std::size_t turn_ = 0;
};

// Of a seed: 4 to 64 ranks, one group or tensor and data parallel ones, exposed or hidden collectives, any noise.
inline MadeLateJob healthy_job(std::uint64_t seed) {
  std::mt19937_64 random(seed * 7919);
  MadeLateJob job;
  job.seed = seed;
  job.ranks = std::size_t{4} << random() % 5;
  job.tensor = random() % 4 == 0 && job.ranks > 8 ? 4 : 1;
  job.buckets = 1 + random() % 6;
  job.hidden = random() % 3 == 0 && job.tensor == 1;
  job.steps = std::size_t{8} << random() % 6;
  job.noise = static_cast<MadeNoise>(random() % static_cast<std::size_t>(MadeNoise::count_));
  job.speed = random() % 2 == 0 ? 0.015 : 0;
  return job;
}

// The same with one to three ranks that are late, in fifteen steps at least.
inline MadeLateJob late_job(std::uint64_t seed) {
  std::mt19937_64 random(seed * 104729);
  MadeLateJob job = healthy_job(seed);
  const std::size_t count = 1 + random() % 3;
  while (job.stragglers.size() < count) {
    const std::size_t rank = random() % job.ranks;
    if (std::find(job.stragglers.begin(), job.stragglers.end(), rank) == job.stragglers.end())
      job.stragglers.push_back(rank);
  }
  job.in_turn = random() % 2 == 0;
  const double turns = job.in_turn ? static_cast<double>(count) : 1;
  job.late = 0.1 * turns * static_cast<double>(1 + random() % 4);
  if (random() % 4 == 0) job.often = 0.5;
  if (random() % 4 == 0) job.from = 0.25, job.until = 0.75;
  // In turn, one of four ranks is told from chance sooner than three of four.
  const double times = job.in_turn ? std::max(15 * turns, 30 / std::log(static_cast<double>(job.ranks) / turns)) : 25;
  job.steps = std::max(job.steps, static_cast<std::size_t>(times / job.often / (job.until - job.from)));
  return job;
}

struct LateScore {
  std::size_t late = 0,
              right =
                  0;  // jobs with stragglers that are clear; those of them whose stragglers are named, and nobody else
  std::size_t healthy = 0, silent = 0;
  std::string wrong_seeds;
};

inline LateScore late_score(std::uint64_t first, std::uint64_t last, std::uint64_t step = 1) {
  LateScore score;
  const auto named = [](const MadeLateness& made) {
    std::set<std::size_t> found;
    const Lateness lateness = made.lateness();
    for (std::size_t id = 0; id < lateness.ranks.size(); ++id) {
      if (lateness.ranks[id].straggler) found.insert(id);
    }
    return found;
  };
  for (std::uint64_t seed = first; seed <= last; seed += step) {
    const bool is_silent = named(MadeLateness(healthy_job(seed))).empty();
    ++score.healthy, score.silent += is_silent;
    if (!is_silent) score.wrong_seeds += " healthy " + std::to_string(seed);
    const MadeLateJob job = late_job(seed);
    const MadeLateness made(job);
    if (!made.is_clear()) continue;
    const bool is_right = named(made) == std::set<std::size_t>(job.stragglers.begin(), job.stragglers.end());
    ++score.late, score.right += is_right;
    if (!is_right) score.wrong_seeds += " late " + std::to_string(seed);
  }
  return score;
}

}  // namespace cli
