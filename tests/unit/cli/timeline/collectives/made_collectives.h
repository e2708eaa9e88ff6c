// Collectives of a job whose truth is known, as the collector would give them: ranks on hosts whose clocks differ and drift,
// arrivals that differ, ends that differ as little as measured ones do, records that are lost, beginnings that are missing.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cli/timeline/collectives/call_collector.h"
#include "cli/timeline/collectives/match.h"

namespace cli {

struct MadeJob {
  std::size_t hosts = 2, ranks_per_host = 4;
  std::size_t steps = 20, collectives_per_step = 12;
  std::size_t shared_per_step = 0;  // of these, between hosts: evenly among them; 0: as it comes
  double most_offset_ns = 5e9, most_drift = 50e-6;
  double typical_jitter_ns = 20'000, most_jitter_ns = 188'000;  // of ends: as on eight H100s
  double lost = 0;                                              // share of the calls of which nothing is in the trace
  std::size_t most_late = 0;      // of a rank: its first calls, up to so many, are missing
  bool counted = false;           // as in profiles without Seq; else numbered
  bool counts_from_late = false;  // numbered, but from the first call that was recorded
  bool hosts_are_known = true;
  bool one_kind = false;                    // every collective looks the same
  double most_compute_ns = 900'000;         // between two collectives
  double most_bias_ns = 0;                  // of a host: all its ends are later by as much, up to so much
  std::size_t late_rank = ~std::size_t{0};  // one that is late in every collective, by
  double late_ns = 0;
  std::size_t set_host = ~std::size_t{0};  // whose clock is set
  double set_ns = 0, set_at = 0.5;         // forward by so much, at this share of the run
  double bend_ppm = 0, bend_at = 0.5;      // then, what its drift changes by
  bool unnamed = false;                    // the communicator of no call is known
  std::uint64_t seed = 1;
};

class MadeCollectives {
 public:
  Catalog catalog;
  CollectiveCalls calls;
  std::vector<std::vector<std::vector<std::uint64_t>>> truth;  // by process, lane and call: which collective it is
  std::vector<double> offset_ns, drift;                        // by host: its clock - the true time

  explicit MadeCollectives(const MadeJob& job) : job_(job), random_(job.seed) {
    for (std::size_t host = 0; host < job.hosts; ++host) {
      offset_ns.push_back(host == 0 ? 0 : uniform(-job.most_offset_ns, job.most_offset_ns));
      drift.push_back(host == 0 ? 0 : uniform(-job.most_drift, job.most_drift));
      bias_ns_.push_back(job.most_bias_ns > 0 ? uniform(0, job.most_bias_ns) : 0);
    }
    const std::size_t ranks = job.hosts * job.ranks_per_host;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      Process process;
      process.rank = static_cast<std::int64_t>(rank), process.world_size = static_cast<std::int64_t>(ranks);
      if (job.hosts_are_known) process.host = "node" + std::to_string(rank / job.ranks_per_host);
      process.state = RecordingState::clean;
      catalog.processes.push_back(process);
    }
    calls.processes.resize(ranks), truth.resize(ranks);
    std::vector<std::size_t> world(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) world[rank] = rank;
    add_communicator("world", world);
    for (std::size_t host = 0; host < job.hosts; ++host) {  // those of a host, and those of one place on each
      add_communicator("tensor" + std::to_string(host), {world.begin() + at(host, 0), world.begin() + at(host + 1, 0)});
    }
    for (std::size_t place = 0; place < job.ranks_per_host; ++place) {
      std::vector<std::size_t> some;
      for (std::size_t host = 0; host < job.hosts; ++host) some.push_back(host * job.ranks_per_host + place);
      add_communicator("data" + std::to_string(place), some);
    }
    run();
    lose();
  }

  double length_ns() const { return length_ns_; }
  // About as long: known before the run is.
  double planned_ns() const {
    return static_cast<double>(job_.steps * job_.collectives_per_step) * job_.most_compute_ns * 0.5;
  }

  // What the clock of a rank says at a true time.
  std::int64_t clock(std::size_t rank, double true_ns) const {
    const std::size_t host = rank / job_.ranks_per_host;
    double ns = true_ns + offset_ns[host] + drift[host] * true_ns;
    if (host == job_.set_host) {
      if (true_ns >= job_.set_at * planned_ns()) ns += job_.set_ns;
      ns += std::max(0.0, true_ns - job_.bend_at * planned_ns()) * job_.bend_ppm * 1e-6;
    }
    return kBegin_ns + static_cast<std::int64_t>(ns);
  }

 private:
  static constexpr std::int64_t kBegin_ns = 1'700'000'000'000'000'000;

  std::ptrdiff_t at(std::size_t host, std::size_t place) const {
    return static_cast<std::ptrdiff_t>(host * job_.ranks_per_host + place);
  }
  double uniform(double lo, double hi) { return std::uniform_real_distribution<>(lo, hi)(random_); }
  bool happens(double share) { return uniform(0, 1) < share; }
  double jitter() {
    const double x = std::exponential_distribution<>(1 / (job_.typical_jitter_ns * 0.7))(random_);
    return std::min(x, job_.most_jitter_ns);
  }

  struct Made {
    CommunicatorId communicator;
    std::vector<std::size_t> ranks;
  };

  void add_communicator(const std::string& label, std::vector<std::size_t> ranks) {
    if (ranks.size() < 2) return;
    const auto id = static_cast<CommunicatorId>(job_.unnamed ? 0 : calls.communicators.size());
    if (!job_.unnamed || calls.communicators.empty()) {
      CommunicatorInfo info;
      if (!job_.unnamed) info.label = label, info.size = static_cast<std::int64_t>(ranks.size());
      calls.communicators.push_back(info);
    }
    for (const std::size_t rank : ranks) {
      CollectiveLane lane;
      lane.communicator = id;
      lane.numbering = job_.counted ? Numbering::counted : Numbering::numbered;
      calls.processes[rank].lanes.push_back(lane);
      truth[rank].emplace_back();
      lane_of_[rank].push_back(made_.size());
    }
    made_.push_back({id, std::move(ranks)});
  }

  std::size_t some_communicator(std::size_t i) {
    const std::size_t drawn = random_();
    if (job_.shared_per_step == 0) return drawn % made_.size();
    std::vector<std::size_t> some;
    const bool shared = i % (job_.collectives_per_step / job_.shared_per_step) == 0;
    for (std::size_t id = 0; id < made_.size(); ++id) {
      const auto& ranks = made_[id].ranks;
      if ((ranks.front() / job_.ranks_per_host != ranks.back() / job_.ranks_per_host) == shared) some.push_back(id);
    }
    return some.at(drawn % some.size());
  }

  WhatId some_what() {
    CollectiveWhat what;
    const Operation operations[] = {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter};
    what.operation = job_.one_kind ? Operation::all_reduce : operations[random_() % 3];
    what.message_bytes = job_.one_kind ? 4096 : std::int64_t{1024} << random_() % 4;
    return calls.whats.intern(what);
  }

  // Every step does the same, in an order of its own, with computation of changing length between.
  void run() {
    std::vector<double> now(catalog.processes.size());
    std::vector<std::pair<std::size_t, WhatId>> order;
    for (std::size_t i = 0; i < job_.collectives_per_step; ++i) {
      const std::size_t which = some_communicator(i);  // before the next draw, with any compiler
      order.emplace_back(which, some_what());
    }
    std::uint64_t number = 0;
    std::map<std::size_t, std::int64_t> ordinals;
    for (std::size_t step = 0; step < job_.steps; ++step) {
      for (const auto& [which, what] : order) {
        const Made& made = made_[which];
        double last = 0;
        for (const std::size_t rank : made.ranks)
          now[rank] += uniform(50'000, job_.most_compute_ns) + (rank == job_.late_rank ? job_.late_ns : 0),
              last = std::max(last, now[rank]);
        const double done = last + uniform(20'000, 60'000);
        for (const std::size_t rank : made.ranks) {
          CollectiveCall call;
          const double end = done + jitter() + bias_ns_[rank / job_.ranks_per_host];
          call.gpu_start_ns = clock(rank, now[rank]), call.gpu_end_ns = clock(rank, end);
          call.what = what, call.position = ordinals[which];
          now[rank] = end, length_ns_ = std::max(length_ns_, end);
          const auto& lanes = lane_of_[rank];
          const auto lane = static_cast<std::size_t>(std::find(lanes.begin(), lanes.end(), which) - lanes.begin());
          calls.processes[rank].lanes[lane].calls.push_back(call);
          truth[rank][lane].push_back(number);
        }
        ++ordinals[which], ++number;
      }
    }
  }

  void lose() {
    for (std::size_t rank = 0; rank < calls.processes.size(); ++rank) {
      const std::size_t late = job_.most_late == 0 ? 0 : random_() % (job_.most_late + 1);
      for (std::size_t lane = 0; lane < calls.processes[rank].lanes.size(); ++lane) {
        auto& all = calls.processes[rank].lanes[lane].calls;
        std::vector<CollectiveCall> kept;
        std::vector<std::uint64_t> kept_truth;
        for (std::size_t i = late; i < all.size(); ++i) {
          if (happens(job_.lost)) continue;
          kept.push_back(all[i]), kept_truth.push_back(truth[rank][lane][i]);
        }
        for (std::size_t i = 0; i < kept.size(); ++i) {
          if (job_.counted) kept[i].position = static_cast<std::int64_t>(i);
          if (job_.counts_from_late) kept[i].position -= static_cast<std::int64_t>(late);
        }
        catalog.processes[rank].lost[static_cast<std::size_t>(Kind::kernel)] += all.size() - kept.size();
        all = std::move(kept), truth[rank][lane] = std::move(kept_truth);
      }
    }
  }

  MadeJob job_;
  std::vector<double> bias_ns_;  // by host
  std::mt19937_64 random_;
  std::vector<Made> made_;
  double length_ns_ = 0;                                     // of the run
  std::map<std::size_t, std::vector<std::size_t>> lane_of_;  // by rank: of which communicators its lanes are
};

// How matching did, by pairs of calls: the first call of each true collective with every other one of it.
struct MatchScore {
  std::size_t right = 0, wrong = 0, missed = 0;  // in one collective and rightly so; wrongly; not in one, but truly one
};

inline MatchScore score(const MadeCollectives& made, const MatchedCollectives& matched) {
  MatchScore score;
  std::map<std::uint64_t, std::map<std::size_t, std::size_t>>
      found;  // by truth: how many of its calls are in which collective
  std::map<std::uint64_t, std::size_t> all;
  for (const auto& process : made.truth) {
    for (const auto& lane : process) {
      for (const std::uint64_t each : lane) ++all[each];
    }
  }
  for (std::size_t i = 0; i < matched.collectives.size(); ++i) {
    std::map<std::uint64_t, std::size_t> truths;
    for (const MatchedCall& each : matched.calls_of(matched.collectives[i])) {
      const std::uint64_t truth = made.truth[each.process][each.lane][each.call];
      ++truths[truth], ++found[truth][i];
    }
    for (const auto& [truth, count] : truths) score.right += count - 1;
    score.wrong += truths.size() - 1;
  }
  for (const auto& [truth, count] : all) {
    std::size_t together = 0;
    for (const auto& [collective, some] : found[truth]) together += some - 1;
    score.missed += count - 1 - together;
  }
  return score;
}

}  // namespace cli
