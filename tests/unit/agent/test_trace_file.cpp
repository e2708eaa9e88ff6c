#include <unistd.h>

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

TEST_CASE("a process knows its start") {
  CHECK(process_start_ticks(getpid()) > 0);
  CHECK(process_start_ticks(0x7fffffff) == 0);
}
