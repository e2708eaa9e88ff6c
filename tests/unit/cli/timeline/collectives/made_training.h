// Recordings of a job whose stragglers are planted: events as the reader gives them, of ranks on hosts whose clocks differ and
// drift; ends of collectives that differ as on eight H100s; records that are lost.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/timeline/collectives/call_collector.h"
#include "cli/timeline/collectives/stragglers.h"
#include "tests/unit/cli/formats/export/small_trace.h"

namespace cli {

struct MadeTraining {
  std::size_t hosts = 8, ranks_per_host = 4;
  std::size_t steps = 20, collectives_per_step = 12;
  double late_ns = 1e6;                         // of a straggler, before each of its collectives
  bool once_a_step = false;                     // ... before the first one of each step only
  double lost = 0;                              // share of the records
  std::map<std::size_t, LateCause> stragglers;  // by rank
  std::uint64_t seed = 1;
};

// As `analyze` finds them; of events in the order of time.
class CallsOfTrace : public EventSink {
 public:
  explicit CallsOfTrace(const Catalog& catalog) : catalog_(catalog), collector_(make_call_collector(catalog)) {}
  void event(const Event& event, const Facts& facts) override {
    collector_->event(event, facts, event.kind == Kind::kernel && !catalog_.strings[event.name].starts_with("nccl"));
  }
  CollectiveCalls take() { return collector_->take(); }

 private:
  const Catalog& catalog_;
  std::unique_ptr<CallCollector> collector_;
};

inline Lateness lateness_of(const CollectiveCalls& calls, const Catalog& catalog,
                            const std::vector<ClockFit>& fits = {}) {
  const MatchedCollectives matched = match_collectives(calls, catalog);
  std::vector<std::uint32_t> all;
  for (std::uint32_t at = 0; at < matched.collectives.size(); ++at) all.push_back(at);
  return find_stragglers(calls, matched, all, clocks_of(catalog, fits));
}

class MadeEvents {
 public:
  SmallTrace trace;

  explicit MadeEvents(const MadeTraining& job) : job_(job), random_(job.seed) {
    const std::size_t ranks = job.hosts * job.ranks_per_host;
    for (std::size_t host = 0; host < job.hosts; ++host)
      offset_ns_.push_back(uniform(-5e9, 5e9)), drift_.push_back(uniform(-50e-6, 50e-6));
    std::vector<std::size_t> world;
    for (std::size_t rank = 0; rank < ranks; ++rank) add_rank(rank), world.push_back(rank);
    add_group(world);
    for (std::size_t host = 0; host < job.hosts; ++host) {  // those of a host, and those of one place on each
      std::vector<std::size_t> some;
      for (std::size_t place = 0; place < job.ranks_per_host; ++place)
        some.push_back(host * job.ranks_per_host + place);
      add_group(some);
    }
    for (std::size_t place = 0; place < job.ranks_per_host; ++place) {
      std::vector<std::size_t> some;
      for (std::size_t host = 0; host < job.hosts; ++host) some.push_back(host * job.ranks_per_host + place);
      add_group(some);
    }
    run();
    std::stable_sort(trace.events.begin(), trace.events.end(),
                     [](const auto& a, const auto& b) { return a.first.start_ns < b.first.start_ns; });
  }

  CollectiveCalls calls() const {
    CallsOfTrace found(trace.catalog);
    for (const auto& [event, facts] : trace.events) found.event(event, facts);
    return found.take();
  }
  Lateness lateness() const { return lateness_of(calls(), trace.catalog); }

 private:
  struct Rank {
    ProcessId process;
    TrackId thread, compute, communication;
    double now = 0;   // its GPU is done with all that came before
    double host = 0;  // its host has launched all that came before
    std::uint64_t correlation = 0;
    std::map<std::size_t, std::uint64_t> ordinals;
  };
  struct Slot {         // what a step does before a collective, and this: the same on all ranks and in all steps
    std::size_t group;  // of a kind: world, of a host, of a place
    std::vector<std::pair<std::string, double>> kernels;
  };

  double uniform(double lo, double hi) { return std::uniform_real_distribution<>(lo, hi)(random_); }
  double jitter() { return std::min(std::exponential_distribution<>(1 / 14'000.0)(random_), 188'000.0); }

  void add_rank(std::size_t rank) {
    Rank made{};
    made.process = trace.process(static_cast<std::int64_t>(rank));
    Process& process = trace.catalog.processes[made.process];
    process.host = "node" + std::to_string(rank / job_.ranks_per_host), process.state = RecordingState::clean;
    made.thread = trace.thread(made.process), made.compute = trace.stream(made.process, 7),
    made.communication = trace.stream(made.process, 9);
    ranks_.push_back(made);
  }

  void add_group(const std::vector<std::size_t>& members) {
    const std::uint64_t hash = 0xc0ffee00 + groups_.size();
    for (std::size_t i = 0; i < members.size(); ++i) {
      auto& told = trace.catalog.processes[ranks_[members[i]].process].communicators;
      told.push_back({.communicator = hash,
                      .rank = static_cast<std::int64_t>(i),
                      .ranks = static_cast<std::int64_t>(members.size()),
                      .epoch = 1});
    }
    groups_.push_back(members);
  }

  void put(const Rank& rank, TrackId track, Kind kind, const char* name, double start, double duration,
           std::uint64_t correlation, KeptFacts facts) {
    if (uniform(0, 1) < job_.lost) {
      ++trace.catalog.processes[rank.process].lost[static_cast<std::size_t>(kind)];
      return;
    }
    const std::size_t host = static_cast<std::size_t>(trace.catalog.processes[rank.process].rank) / job_.ranks_per_host;
    const auto at = kOrigin + static_cast<std::int64_t>(start + offset_ns_[host] + drift_[host] * start);
    Event& event = trace.add(track, kind, name, at, static_cast<std::int64_t>(duration), correlation, std::move(facts));
    if (kind == Kind::nccl) event.bytes = 1 << 20, event.has_bytes = true;
  }

  // The host is a millisecond ahead at most.
  void launch(Rank& rank, const char* name, std::uint32_t cbid) {
    rank.host = std::max(rank.host + 4'000, rank.now - 1'000'000);
    put(rank, rank.thread, Kind::runtime, name, rank.host, 3'000, ++rank.correlation, CallFacts{.cbid = cbid});
  }

  static CopyFacts from_pageable() {
    CopyFacts facts;
    facts.direction = 1, facts.from_memory = 1, facts.to_memory = 3;
    return facts;
  }

  // Launched at `at` or, where that is before the GPU is done, while it was busy.
  void run_work(Rank& rank, Kind kind, const char* name, double at, double duration) {
    const bool copies = kind == Kind::memcpy;
    rank.host = std::max(rank.host, at);
    copies ? launch(rank, "cudaMemcpyAsync", 41) : launch(rank, "cudaLaunchKernel", 211);
    rank.now = std::max(rank.now + 1'000, rank.host + 4'000);
    put(rank, rank.compute, kind, name, rank.now, duration, rank.correlation,
        copies ? KeptFacts(from_pageable()) : KeptFacts(KernelFacts{}));
    rank.now += duration;
  }

  void compute(Rank& rank, const Slot& slot, LateCause cause) {
    double all = 0;
    for (const auto& [name, ns] : slot.kernels) all += ns;
    const double launched = cause == LateCause::host ? rank.now + job_.late_ns : 0;
    run_work(rank, Kind::memcpy, "Memcpy HtoD (Pageable -> Device)", launched,
             20'000 + (cause == LateCause::copy ? job_.late_ns : 0));
    for (const auto& [name, ns] : slot.kernels) {
      const double varied = ns * uniform(0.97, 1.03);
      run_work(rank, Kind::kernel, name.c_str(), 0,
               cause == LateCause::slow_kernels ? varied * (1 + job_.late_ns / all) : varied);
    }
    for (double more = cause == LateCause::more_work ? job_.late_ns : 0; more > 0; more -= slot.kernels[0].second) {
      run_work(rank, Kind::kernel, slot.kernels[0].first.c_str(), 0, slot.kernels[0].second);
    }
  }

  void meet(std::size_t group) {
    double last = 0;
    for (const std::size_t member : groups_[group]) {
      Rank& rank = ranks_[member];
      rank.now = std::max(rank.now + 2'000, rank.host + 8'000), last = std::max(last, rank.now);
    }
    const double done = last + uniform(20'000, 60'000);
    for (const std::size_t member : groups_[group]) {
      Rank& rank = ranks_[member];
      NcclFacts facts;
      Collective& c = facts.collective;
      c.communicator = 0xc0ffee00 + group, c.ordinal = rank.ordinals[group]++, c.epoch = 1;
      c.nccl_class = static_cast<std::uint8_t>(trace::NcclClass::collective),
      c.has = Collective::kCommunicator | Collective::kBytes;
      put(rank, rank.thread, Kind::nccl, "ncclAllReduce", std::max(rank.host + 4'000, rank.now - 1'000'000) - 500,
          9'000, 0, facts);
      launch(rank, "cudaLaunchKernelExC", 430);
      rank.host += 10'000;
      const double end = done + jitter();
      put(rank, rank.communication, Kind::kernel, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL()", rank.now,
          end - rank.now, rank.correlation, KernelFacts{});
      rank.now = end;
    }
  }

  std::vector<Slot> some_step() {
    std::vector<Slot> slots(job_.collectives_per_step);
    for (Slot& slot : slots) {
      slot.group = random_() % 3;
      const std::size_t kernels = 2 + random_() % 3;
      for (std::size_t i = 0; i < kernels; ++i)
        slot.kernels.emplace_back("kernel_" + std::to_string(random_() % 8), uniform(50'000, 400'000));
    }
    return slots;
  }

  void run() {
    const std::vector<Slot> slots = some_step();
    for (std::size_t step = 0; step < job_.steps; ++step) {
      for (std::size_t at = 0; at < slots.size(); ++at) {
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
          const auto planted = job_.stragglers.find(rank);
          const bool is_late = planted != job_.stragglers.end() && (at == 0 || !job_.once_a_step);
          compute(ranks_[rank], slots[at], is_late ? planted->second : LateCause::none);
        }
        const std::size_t first = slots[at].group == 0 ? 0 : slots[at].group == 1 ? 1 : 1 + job_.hosts;
        const std::size_t end = slots[at].group == 0 ? 1 : slots[at].group == 1 ? 1 + job_.hosts : groups_.size();
        for (std::size_t group = first; group < end; ++group) meet(group);
      }
    }
  }

  MadeTraining job_;
  std::mt19937_64 random_;
  std::vector<double> offset_ns_, drift_;  // by host
  std::vector<Rank> ranks_;
  std::vector<std::vector<std::size_t>> groups_;
};

}  // namespace cli
