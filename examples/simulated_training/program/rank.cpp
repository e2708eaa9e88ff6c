#include "rank.h"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include "../standin/collective_area.h"
#include "../standin/true_clock.h"
#include "../standin/work.h"
#include "host_shift.h"
#include "nvtx.h"
#include "steady_load.h"
#include "training.h"

namespace sim {
namespace {

constexpr auto kJoinPoll = std::chrono::microseconds(300);
constexpr std::uint64_t kJoinTimeoutNs = 30'000'000'000;

int number_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : 0;
}

CollectiveArea* map_area() {
  void* memory = mmap(nullptr, sizeof(CollectiveArea), PROT_READ | PROT_WRITE, MAP_SHARED, number_of(kAreaVariable), 0);
  if (memory != MAP_FAILED) return static_cast<CollectiveArea*>(memory);
  std::perror("simulated_training: the ranks' shared memory");
  std::exit(2);
}

// In ncclCommInitRank: until every rank is in it, or gone.
void join_others(CollectiveArea& area) {
  area.joined.fetch_add(1);
  const std::uint64_t give_up_ns = true_ns() + kJoinTimeoutNs;
  const auto expected = [&] {
    std::uint32_t count = 0;
    for (std::uint32_t rank = 0; rank < area.ranks; ++rank) count += area.gone[rank].load() == 0 ? 1 : 0;
    return count;
  };
  while (area.joined.load() < expected() && true_ns() < give_up_ns) std::this_thread::sleep_for(kJoinPoll);
}

struct Clocks {
  std::uint64_t time_ns = 0, mono_ns = 0, uncertainty_ns = ~std::uint64_t{0};
};

// Of several readings the one whose two clocks were read closest together: a thread may be put to sleep in between.
Clocks read_clocks() {
  constexpr int kTries = 20;
  Clocks best;
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before_ns = true_ns(), mono_ns = true_clock_ns(CLOCK_MONOTONIC), after_ns = true_ns();
    if (after_ns - before_ns < best.uncertainty_ns) best = {before_ns, mono_ns, after_ns - before_ns};
  }
  return best;
}

// Who this rank is and how its clocks are shifted.
void tell_truth_about_host(int rank) {
  const HostShift& host = host_shift();
  char name[256] = "", boot_id[64] = "";
  gethostname(name, sizeof(name) - 1);
  if (FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
    if (std::fscanf(file, "%63s", boot_id) != 1) boot_id[0] = '\0';
    std::fclose(file);
  }
  const Clocks clocks = read_clocks();
  Line line("clock");
  line.number("rank", rank).number("pid", getpid()).text("host", name).text("boot_id", boot_id);
  line.number("offset_ns", host.real_offset_ns).number("monotonic_offset_ns", host.monotonic_offset_ns);
  line.number("drift_ppb", host.drift_ppb).number("base_real_ns", host.base_real_ns);
  if (host.set_ns != 0) line.number("set_ns", host.set_ns).number("set_at_ns", host.set_at_real_ns);
  line.number("base_monotonic_ns", host.base_monotonic_ns).number("time", clocks.time_ns);
  line.number("mono", shifted_ns(CLOCK_MONOTONIC, static_cast<std::int64_t>(clocks.mono_ns)));
  say(line);
}

}  // namespace

int run_rank(const Options& options) {
  const int rank = number_of("RANK");
  CollectiveArea* area = map_area();
  simulated_join(area, static_cast<std::uint32_t>(rank));
  tell_truth_about_host(rank);
  Gpu gpu(model_named(options.model), number_of("LOCAL_RANK"), number_of("SIM_DEVICES"),
          static_cast<std::size_t>(options.batch_mib) << 20, options.seed * 1'000 + static_cast<std::uint64_t>(rank));
  const Communicator world{0xc0ffee0000000000u + options.seed, options.ranks, rank, gpu.device()};
  begin_comm_init();
  join_others(*area);
  end_comm_init(world);
  std::optional<Communicator> part;
  if (options.comms > 0) part = comm_split(world, options.comms);
  if (options.rate > 0) {
    run_steady_load(options, gpu);
  } else {
    Training(options, world, part.has_value() ? &*part : nullptr, gpu).run();
  }
  if (options.hang >= 0 && options.hang_us == 0) return 0;
  if (part.has_value()) comm_destroy(*part);
  comm_destroy(world);
  gpu.close();
  return 0;
}

}  // namespace sim
