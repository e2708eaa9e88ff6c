#include <unistd.h>

#include "agent/base/host.h"
#include "tests/unit/catch.h"

using namespace agent;

TEST_CASE("a process knows its start") {
  CHECK(process_start_ticks(getpid()) > 0);
  CHECK(process_start_ticks(0x7fffffff) == 0);
}
