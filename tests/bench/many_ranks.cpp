// many_ranks DIRECTORY HOSTS RANKS_PER_HOST STEPS [rings]: parts of a large run (docs/large-runs.md), one of each host, as `merge --partial` makes
// them: DIRECTORY/part-00000.ttrace, ... Some 1,000 events a step and rank. Prints how many events there are, and for each host by how much
// its clock is ahead of the first one's at the first step, in nanoseconds. With `rings`, recordings in place of the parts, one of each
// rank: DIRECTORY/node00000-0.ring, ...
//
// A step has ten parts, each of 48 kernels with their launches and one all-reduce: of all ranks, of a host, or of the ranks at one place on
// each host, by turns. An all-reduce ends when the last of its ranks has come. One rank in 64 is late at each step's first all-reduce.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/base/output_file.h"
#include "cli/formats/ttrace/reader.h"
#include "cli/formats/ttrace/walk.h"
#include "cli/formats/ttrace/writer.h"
#include "cli/timeline/merge/align.h"
#include "cli/trace/catalog.h"
#include "common/record.h"
#include "tests/unit/cli/formats/reading/made_rings.h"

namespace {

using namespace cli;
using namespace cli::ttrace;

constexpr std::int64_t kBegin_ns = 1'700'000'000'000'000'000;
constexpr int kSlots = 10, kKernels = 48;
constexpr std::size_t kHeld = 1 << 13;

// The same for the same words on every run.
std::uint64_t noise(std::uint64_t a, std::uint64_t b, std::uint64_t most) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15u ^ (b + 1) * 0xbf58476d1ce4e5b9u;
  x ^= x >> 31;
  x *= 0x94d049bb133111ebu;
  return (x ^ x >> 29) % most;
}

struct Rank {
  TrackId thread, compute, communication;
  std::int64_t host_ns, gpu_ns;  // launched, and done, until then
  std::uint64_t correlation = 0;
  std::int64_t step_begin_ns = 0;
};

// A host: its ranks, its clock and its file.
class Host {
 public:
  Host(const std::string& path, std::size_t number, std::size_t hosts, std::size_t ranks)
      : number_(number),
        ahead_ns_(static_cast<std::int64_t>(noise(number, 7, 2'000'000'000)) * (number > 0)),
        drift_(number == 0 ? 0 : (static_cast<double>(noise(number, 8, 40'000)) - 20'000) * 1e-9),
        file_(path) {
    for (std::size_t place = 0; place < ranks; ++place) add_rank(place, hosts, ranks);
    launch_ = catalog_.strings.intern("cudaLaunchKernel"), call_ = catalog_.strings.intern("ncclAllReduce");
    reduce_ = catalog_.strings.intern("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
    for (int i = 0; i < kKernels; ++i) {
      kernels_.push_back(catalog_.strings.intern(fmt::format(
          "void at::native::vectorized_elementwise_kernel<{}, at::native::CUDAFunctor_add<c10::BFloat16>>(int)", i)));
    }
    writer_ = std::make_unique<MergedWriter>(file_, catalog_, kHeld);
  }

  std::vector<Rank>& ranks() { return ranks_; }
  std::int64_t ahead_ns() const { return ahead_ns_; }

  void compute(std::size_t place, int step, int slot) {
    Rank& rank = ranks_[place];
    const std::uint64_t id = number_ * ranks_.size() + place;
    if (slot == 0) {
      rank.step_begin_ns = rank.host_ns;
      rank.host_ns += (id % 64 == 17) * 300'000;
    }
    for (int i = 0; i < kKernels; ++i) {
      const std::uint64_t at = static_cast<std::uint64_t>((step * kSlots + slot) * kKernels + i);
      launch(rank, 3'000 + noise(id, at, 900));
      rank.gpu_ns = std::max(rank.gpu_ns + 900, rank.host_ns + 4'000);
      KernelFacts facts;
      facts.context = 1;
      const auto took = static_cast<std::int64_t>(4'000 + 500 * static_cast<std::uint64_t>(i) + noise(id, at + 1, 600));
      put(Kind::kernel, rank.compute, kernels_[static_cast<std::size_t>(i)], rank.gpu_ns, took, rank.correlation,
          facts);
      rank.gpu_ns += took;
    }
  }

  // When this rank has come to its next all-reduce.
  std::int64_t come(std::size_t place) {
    Rank& rank = ranks_[place];
    rank.gpu_ns = std::max(rank.gpu_ns + 2'000, rank.host_ns + 8'000);
    return rank.gpu_ns;
  }

  void reduce(std::size_t place, std::uint64_t communicator, std::uint64_t ordinal, std::int64_t end_ns) {
    Rank& rank = ranks_[place];
    NcclFacts facts;
    Collective& c = facts.collective;
    c.communicator = communicator, c.ordinal = ordinal, c.epoch = 1;
    c.nccl_class = static_cast<std::uint8_t>(trace::NcclClass::collective),
    c.has = Collective::kCommunicator | Collective::kBytes;
    Event event = made(Kind::nccl, rank.thread, call_, rank.host_ns + 500, 9'000, 0);
    event.bytes = 1 << 20, event.has_bytes = true;
    write(event, facts);
    launch(rank, 1'000);
    rank.host_ns += 10'000;
    KernelFacts kernel;
    kernel.context = 1;
    put(Kind::kernel, rank.communication, reduce_, rank.gpu_ns, end_ns - rank.gpu_ns, rank.correlation, kernel);
    rank.gpu_ns = end_ns;
  }

  void end_step(std::size_t place, int step) {
    Rank& rank = ranks_[place];
    rank.host_ns = std::max(rank.host_ns, rank.gpu_ns - 200'000);
    put(Kind::nvtx, rank.thread, catalog_.strings.intern(fmt::format("step {}", step)), rank.step_begin_ns,
        rank.host_ns - rank.step_begin_ns, 0, RangeFacts{});
    flush(place, on_clock(rank.host_ns));  // the next step begins there
  }

  std::uint64_t finish() {
    for (std::size_t place = 0; place < ranks_.size(); ++place) flush(place, INT64_MAX);
    std::vector<ClockFit> fits(1);
    fits[0].host = catalog_.processes[0].host;
    for (Process& process : catalog_.processes) {
      process.clock = 0;
      fits[0].ranks.push_back(process.rank);
    }
    keep_wall_clocks(fits);
    writer_->finish(catalog_, fits);
    file_.finish();
    return events_;
  }

 private:
  void add_rank(std::size_t place, std::size_t hosts, std::size_t ranks) {
    Process process;
    process.rank = static_cast<std::int64_t>(number_ * ranks + place);
    process.world_size = static_cast<std::int64_t>(hosts * ranks);
    process.host = fmt::format("node{:05}", number_);
    process.source = fmt::format("{}-{}.ring", process.host, place);
    process.run_id = "many_ranks", process.format = SourceFormat::ring, process.state = RecordingState::clean;
    process.first_ns = INT64_MAX;
    const auto tell = [&](std::uint64_t communicator, std::size_t rank, std::size_t of) {
      process.communicators.push_back({.communicator = communicator,
                                       .rank = static_cast<std::int64_t>(rank),
                                       .ranks = static_cast<std::int64_t>(of),
                                       .epoch = 1});
    };
    tell(1, number_ * ranks + place, hosts * ranks);
    tell(1'000 + number_, place, ranks);
    tell(1'000'000 + place, number_, hosts);
    const ProcessId id = catalog_.add_process(process);
    Rank rank{};
    rank.thread = catalog_.track(id, TrackKind::thread, 4242, 4242),
    rank.compute = catalog_.track(id, TrackKind::stream, 0, 7);
    rank.communication = catalog_.track(id, TrackKind::stream, 0, 9);
    rank.host_ns = rank.gpu_ns = kBegin_ns + static_cast<std::int64_t>(noise(number_, place, 1'000'000));
    ranks_.push_back(rank);
    waiting_.emplace_back();
  }

  void launch(Rank& rank, std::uint64_t took) {
    rank.host_ns += static_cast<std::int64_t>(took) + 1'000;
    CallFacts facts;
    facts.cbid = 211;
    put(Kind::runtime, rank.thread, launch_, rank.host_ns - static_cast<std::int64_t>(took),
        static_cast<std::int64_t>(took), ++rank.correlation, facts);
  }

  std::int64_t on_clock(std::int64_t ns) const {
    return ns + ahead_ns_ + static_cast<std::int64_t>(drift_ * static_cast<double>(ns - kBegin_ns));
  }

  Event made(Kind kind, TrackId track, StringId name, std::int64_t start_ns, std::int64_t duration_ns,
             std::uint64_t correlation) const {
    Event event;
    event.kind = kind, event.track = track, event.name = name, event.correlation = correlation;
    event.start_ns = on_clock(start_ns);
    event.duration_ns = duration_ns;
    return event;
  }
  void put(Kind kind, TrackId track, StringId name, std::int64_t start_ns, std::int64_t duration_ns,
           std::uint64_t correlation, const Facts& facts) {
    write(made(kind, track, name, start_ns, duration_ns, correlation), facts);
  }
  void write(const Event& event, const Facts& facts) {
    Process& process = catalog_.processes[catalog_.tracks[event.track].process];
    ++process.counts[static_cast<std::size_t>(event.kind)];
    process.first_ns = std::min(process.first_ns, event.start_ns),
    process.last_ns = std::max(process.last_ns, event.start_ns + event.duration_ns);
    waiting_[static_cast<std::size_t>(&process - catalog_.processes.data())].emplace_back(event, facts);
  }

  // In their order, those that begin before `until_ns`.
  void flush(std::size_t place, std::int64_t until_ns) {
    auto& waiting = waiting_[place];
    std::stable_sort(waiting.begin(), waiting.end(),
                     [](const auto& a, const auto& b) { return key_of(a.first, 0) < key_of(b.first, 0); });
    std::size_t done = 0;
    for (; done < waiting.size() && waiting[done].first.start_ns < until_ns; ++done)
      writer_->event(waiting[done].first, waiting[done].second);
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(done));
    events_ += done;
  }

  std::size_t number_;
  std::int64_t ahead_ns_;
  double drift_;
  OutputFile file_;
  Catalog catalog_;
  StringId launch_ = 0, call_ = 0, reduce_ = 0;
  std::vector<StringId> kernels_;
  std::vector<Rank> ranks_;
  std::vector<std::vector<std::pair<Event, KeptFacts>>>
      waiting_;  // by rank: events come as they are made, a file has them in order
  std::unique_ptr<MergedWriter> writer_;
  std::uint64_t events_ = 0;
};

// All ranks of a communicator meet: each comes when its GPU has done what was before.
void meet(std::deque<Host>& hosts, const std::vector<std::pair<std::size_t, std::size_t>>& members,
          std::uint64_t communicator, std::uint64_t ordinal) {
  std::int64_t last_ns = 0;
  for (const auto& [host, place] : members) last_ns = std::max(last_ns, hosts[host].come(place));
  for (const auto& [host, place] : members) {
    const std::uint64_t late = noise(host * 64 + place, ordinal * 31 + communicator, 9'000);
    hosts[host].reduce(place, communicator, ordinal, last_ns + 30'000 + static_cast<std::int64_t>(late));
  }
}

// Recordings in place of a part.
void write_as_rings(const std::string& part, const std::string& directory) {
  Catalog catalog;
  KeptEvents events;
  MergedReader(part).read(catalog, events);
  write_rings(catalog, events.all, [&](ProcessId id) { return directory + "/" + catalog.processes[id].source; });
  std::filesystem::remove(part);
}

struct Group {
  std::uint64_t communicator, ordinal = 0;
  std::vector<std::pair<std::size_t, std::size_t>> members;  // host, place
};

}  // namespace

int main(int argc, char** argv) {
  const bool as_rings = argc == 6 && argv[5] == std::string_view("rings");
  if (argc != 5 && !as_rings) {
    fmt::print(stderr, "many_ranks DIRECTORY HOSTS RANKS_PER_HOST STEPS [rings]\n");
    return 1;
  }
  const std::size_t host_count = std::strtoul(argv[2], nullptr, 10), per_host = std::strtoul(argv[3], nullptr, 10);
  const int steps = std::atoi(argv[4]);
  std::filesystem::create_directories(argv[1]);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;  // one of each host is open
  setrlimit(RLIMIT_NOFILE, &files);
  std::deque<Host> hosts;
  const auto path_of = [&](std::size_t host) { return fmt::format("{}/part-{:05}.ttrace", argv[1], host); };
  for (std::size_t i = 0; i < host_count; ++i) hosts.emplace_back(path_of(i), i, host_count, per_host);
  Group world{1, 0, {}};
  std::vector<Group> of_hosts, of_places;
  for (std::size_t host = 0; host < host_count; ++host) of_hosts.push_back({1'000 + host, 0, {}});
  for (std::size_t place = 0; place < per_host; ++place) of_places.push_back({1'000'000 + place, 0, {}});
  for (std::size_t host = 0; host < host_count; ++host) {
    for (std::size_t place = 0; place < per_host; ++place) {
      for (Group* group : {&world, &of_hosts[host], &of_places[place]}) group->members.emplace_back(host, place);
    }
  }
  const auto all_meet = [&](Group& group) { meet(hosts, group.members, group.communicator, group.ordinal++); };
  for (int step = 0; step < steps; ++step) {
    for (int slot = 0; slot < kSlots; ++slot) {
      for (const auto& [host, place] : world.members) hosts[host].compute(place, step, slot);
      if (slot % 3 == 0) all_meet(world);
      for (Group& group : of_hosts) {
        if (slot % 3 == 1) all_meet(group);
      }
      for (Group& group : of_places) {
        if (slot % 3 == 2) all_meet(group);
      }
    }
    for (const auto& [host, place] : world.members) hosts[host].end_step(place, step);
  }
  std::uint64_t events = 0;
  for (Host& host : hosts) events += host.finish();
  for (std::size_t i = 0; as_rings && i < host_count; ++i) write_as_rings(path_of(i), argv[1]);
  fmt::print("{}\n", events);
  for (const Host& host : hosts) fmt::print("{}\n", host.ahead_ns());
  return 0;
}
