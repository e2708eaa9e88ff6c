#include <unistd.h>

#include "agent/clocks/clocks.h"
#include "agent/ring/worker.h"
#include "tests/unit/catch.h"

using agent::Worker;

namespace {

constinit Worker s_worker{};

void work_for_ms(std::uint64_t ms) {
  const std::uint64_t until_ns = agent::mono_ns() + ms * 1'000'000;
  while (agent::mono_ns() < until_ns) continue;
}

void run() {
  work_for_ms(20);
  while (s_worker.wait_ms(1)) continue;
  work_for_ms(20);
}

}  // namespace

TEST_CASE("a thread of ours tells what CPU time it takes, while it runs and after its end") {
  CHECK(s_worker.cpu_ns() == 0);
  REQUIRE(s_worker.start("test", run));
  for (int tries = 0; tries < 5000 && s_worker.cpu_ns() == 0; ++tries) usleep(1000);
  const std::uint64_t running_ns = s_worker.cpu_ns();
  CHECK(running_ns > 1'000'000);
  CHECK(s_worker.stop(5000));
  CHECK(s_worker.cpu_ns() > running_ns + 1'000'000);
}
