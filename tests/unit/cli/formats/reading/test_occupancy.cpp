#include "cli/formats/reading/devices.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

Device gpu(std::uint32_t major, std::uint32_t multiprocessors, std::uint32_t shared_bytes) {
  Device d;
  d.compute_major = major, d.multiprocessors = multiprocessors;
  d.max_warps_per_multiprocessor = 64, d.max_blocks_per_multiprocessor = 32;
  d.max_registers_per_multiprocessor = 65536, d.max_shared_bytes_per_multiprocessor = shared_bytes;
  return d;
}
const Device kV100 = gpu(7, 80, 98304), kA100 = gpu(8, 108, 167936), kH100 = gpu(9, 132, 233472);

std::uint32_t percent(const Device& device, const LaunchShape& shape) {
  return estimate_occupancy(device, shape)->achieved_percent.value();
}

}  // namespace

// Of torch.profiler's files of real GPUs, which hold what NVIDIA's calculator says.
TEST_CASE("occupancy: as Kineto writes it of real launches") {
  CHECK(percent(kV100, {100, 512, 40, 0}) == 31);
  CHECK(percent(kV100, {64, 512, 64, 144}) == 20);
  CHECK(percent(kV100, {256, 256, 61, 9216}) == 40);
  CHECK(percent(kV100, {160, 256, 82, 25600}) == 25);
  CHECK(percent(kA100, {1024, 128, 18, 0}) == 59);
  CHECK(percent(kA100, {864, 256, 48, 0}) == 63);
  CHECK(percent(kH100, {576, 256, 37, 8192}) == 55);
  CHECK(percent(kH100, {49152, 64, 40, 8}) == 75);
  const auto few = estimate_occupancy(kV100, {8, 128, 108, 0});
  CHECK(few->achieved_percent == 1u);
  CHECK(few->blocks_per_multiprocessor == 0.1f);
  CHECK(few->warps_per_multiprocessor == 0.4f);
}

// Of NVIDIA's calculator, for 8.0 and the most shared memory.
TEST_CASE("occupancy: each limit in turn") {
  CHECK(active_blocks(kA100, {1, 256, 32, 0}) == 8u);         // warps: 64 of 64
  CHECK(active_blocks(kA100, {1, 32, 16, 0}) == 32u);         // blocks
  CHECK(active_blocks(kA100, {1, 256, 128, 0}) == 2u);        // registers: 16 warps of 4096
  CHECK(active_blocks(kA100, {1, 128, 33, 0}) == 12u);        // ... in units of 256 for each warp
  CHECK(active_blocks(kA100, {1, 64, 16, 48 * 1024}) == 3u);  // shared memory, with 1 KiB of the system
  CHECK(active_blocks(kA100, {1, 64, 16, 163 * 1024}) == 1u);
  CHECK(active_blocks(kV100, {1, 64, 16, 48 * 1024}) == 2u);  // none is reserved before 8.0
}

TEST_CASE("occupancy: what is not known is not guessed") {
  CHECK(!estimate_occupancy(Device{}, {8, 128, 32, 0}));
  for (auto limit : {&Device::max_warps_per_multiprocessor, &Device::max_blocks_per_multiprocessor,
                     &Device::max_registers_per_multiprocessor, &Device::max_shared_bytes_per_multiprocessor,
                     &Device::compute_major}) {
    Device d = kH100;
    d.*limit = 0;
    REQUIRE(estimate_occupancy(d, {132, 128, 32, 0}));
    CHECK(estimate_occupancy(d, {132, 128, 32, 0})->blocks_per_multiprocessor == 1);
    CHECK(!estimate_occupancy(d, {132, 128, 32, 0})->achieved_percent);
  }
  Device future = kH100;
  future.compute_major = 13;
  CHECK(!active_blocks(future, {1, 128, 32, 0}));
  CHECK(!active_blocks(kH100, {1, 0, 32, 0}));
  CHECK(!active_blocks(kH100, {1, 1024, 255, 0}));  // cannot be launched
}

// Numbers of a damaged recording, the first of which wrap in 32 bits.
TEST_CASE("occupancy: of a launch that cannot be there is none") {
  const std::uint64_t half = std::uint64_t{1} << 32;
  for (const std::uint64_t threads : {half - 31, half - 1, half, half + 128, UINT64_MAX, std::uint64_t{1025}}) {
    CHECK(!active_blocks(kH100, {1, threads, 32, 0}));
    CHECK(!estimate_occupancy(kH100, {1, threads, 32, 0}));
  }
  CHECK(!estimate_occupancy(kH100, {UINT64_MAX, 128, 32, 0}));
  CHECK(!estimate_occupancy(kH100, {0, 128, 32, 0}));
  CHECK(!estimate_occupancy(kH100, {1, 0, 32, 0}));
  CHECK(!estimate_occupancy(kH100, {1, 128, 1u << 27, 0}));  // 32 times as many: 0
  CHECK(!estimate_occupancy(kH100, {1, 128, 256, 0}));
  CHECK(!estimate_occupancy(kH100, {1, 128, 32, half - 1024}));
  CHECK(!estimate_occupancy(kH100, {1, 128, 32, kH100.max_shared_bytes_per_multiprocessor + std::uint64_t{1}}));
  Device odd = kH100;
  odd.max_warps_per_multiprocessor = 1u << 27;
  CHECK(estimate_occupancy(odd, {1, 1024, 32, 0})->achieved_percent == 0u);
}
