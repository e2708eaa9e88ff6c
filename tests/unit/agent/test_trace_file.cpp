#include <unistd.h>

#include <cstdlib>
#include <string>

#include "agent/host.h"
#include "agent/ring/trace_file.h"
#include "tests/unit/catch.h"

using namespace agent;

TEST_CASE("a ring of any size is divided so that it holds blocks and names") {
  for (std::uint64_t bytes : {64ull << 10, 100'000ull, 1ull << 20, 64ull << 20, 256ull << 20, 8ull << 30}) {
    trace::FileHeader header{};
    divide_ring(header, bytes);
    INFO(bytes);
    CHECK(header.file_bytes <= bytes);
    CHECK(header.file_bytes + header.block_bytes > bytes);
    CHECK(header.block_count >= 8);
    CHECK(header.block_bytes >= 4096);
    CHECK(header.block_bytes <= 64u << 10);
    CHECK(header.definitions_bytes >= 16u << 10);
    CHECK(header.definitions_offset + header.definitions_bytes == header.blocks_offset);
  }
}

TEST_CASE("the run's name comes from the launcher and is harmless as a folder") {
  char id[64];
  setenv("TORCHELASTIC_RUN_ID", "../../etc/passwd job", 1);
  setenv("TORCHELASTIC_RESTART_COUNT", "2", 1);
  run_id(id, sizeof(id));
  CHECK(std::string(id) == "_._.._etc_passwd_job-r2");
  setenv("TORCHELASTIC_RUN_ID", "none", 1);
  setenv("SLURM_JOB_ID", "4711", 1);
  setenv("SLURM_STEP_ID", "3", 1);
  run_id(id, sizeof(id));
  CHECK(std::string(id) == "slurm-4711.3");
  unsetenv("TORCHELASTIC_RUN_ID");
  unsetenv("SLURM_JOB_ID");
  run_id(id, sizeof(id));
  CHECK(std::string(id).size() == std::string("20260101-000000").size());
}

TEST_CASE("a process knows its start") {
  CHECK(process_start_ticks(getpid()) > 0);
  CHECK(process_start_ticks(0x7fffffff) == 0);
}
