#include "tests/bench/many_events.h"

#include <fmt/format.h>

#include <cstdio>
#include <iterator>

namespace bench {
namespace {

constexpr int kLayers = 499;  // whose operators differ in dimensions, and kernels in names and grids

constexpr std::int64_t kStart_ns = 1'700'000'000'000'000'000;

void one_launch(std::string& out, std::int64_t ns, int id) {
  auto at = std::back_inserter(out);
  const auto us = [](std::int64_t t) { return fmt::format("{}.{:03}", t / 1000, t % 1000); };
  const int layer = id % kLayers;
  fmt::format_to(at, R"~(  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 4242, "tid": 4242,
    "ts": {}, "dur": 12.345,
    "args": {{
      "External id": {}, "Record function id": 0, "Concrete Inputs": ["", ""], "Input type": ["c10::BFloat16", "c10::BFloat16"], "Input Strides": [[768, 1], [768, 1]], "Input Dims": [[48, 768], [{}, 768]], "Ev Idx": {}
    }}
  }},
)~",
                 us(ns), id, 1024 + layer, id);
  fmt::format_to(at, R"~(  {{
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4242, "tid": 4242,
    "ts": {}, "dur": 4.567,
    "args": {{
      "External id": {}, "cbid": 211, "correlation": {}
    }}
  }},
  {{
    "ph": "s", "id": {}, "pid": 4242, "tid": 4242, "ts": {},
    "cat": "ac2g", "name": "ac2g"
  }},
)~",
                 us(ns + 2000), id, id, id, us(ns + 2000));
  fmt::format_to(at, R"~(  {{
    "ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_{}<c10::BFloat16> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)", "pid": 0, "tid": 7,
    "ts": {}, "dur": 8.192,
    "args": {{
      "External id": {}, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {}, "registers per thread": 32, "shared memory": 0, "blocks per SM": 2.181818, "warps per SM": 8.727273, "grid": [{}, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 14
    }}
  }},
  {{
    "ph": "f", "id": {}, "pid": 0, "tid": 7, "ts": {},
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  }},
)~",
                 layer, us(ns + 9000), id, id, 288 + layer, id, us(ns + 9000));
}

}  // namespace

std::uint64_t write_kineto(const std::string& path, int steps) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return 0;
  std::uint64_t bytes = 0;
  const auto put = [&](const std::string& text) { bytes += std::fwrite(text.data(), 1, text.size(), file); };
  put("{\n  \"schemaVersion\": 1,\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, \"world_size\": 8},\n"
      "  \"baseTimeNanoseconds\": 1700000000000000000,\n  \"displayTimeUnit\": \"ms\",\n  \"traceEvents\": [\n");
  std::int64_t ns = 0;
  for (int step = 0; step < steps; ++step) {
    std::string text;
    for (int i = 0; i < 200; ++i, ns += 20'123) one_launch(text, ns, step * 200 + i + 1);
    put(text);
  }
  put("  {\"ph\": \"i\", \"s\": \"g\", \"name\": \"Record Window End\", \"pid\": \"\", \"tid\": \"\", \"ts\": 1.000}\n  ]\n}\n");
  std::fclose(file);
  return bytes;
}

ManyEvents::ManyEvents(cli::Catalog& catalog, std::int64_t rank) : seed_(static_cast<std::uint64_t>(rank) << 40) {
  cli::Process process;
  process.source = fmt::format("rank{}.ring", rank);
  process.rank = rank;
  process.host = "node0";
  process.state = cli::RecordingState::clean;
  const cli::ProcessId id = catalog.add_process(process);
  thread_ = catalog.track(id, cli::TrackKind::thread, 4242, 4242);
  stream_ = catalog.track(id, cli::TrackKind::stream, 0, 7);
  cli::Launch launch;
  launch.grid[0] = 288, launch.block[0] = 128;
  launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
  launch.registers_per_thread = 32;
  kernel_.launch = catalog.launches.intern(launch), kernel_.context = 1;
  call_.cbid = 211;
  launch_ = catalog.strings.intern("cudaLaunchKernel");
  for (int i = 0; i < 16; ++i) {
    kernels_[i] = catalog.strings.intern(fmt::format("void at::native::vectorized_elementwise_kernel<{}>(int)", i));
  }
}

const cli::Event& ManyEvents::at(std::uint64_t i) {
  const bool kernel = i % 2 == 1;
  event_.kind = kernel ? cli::Kind::kernel : cli::Kind::runtime;
  event_.track = kernel ? stream_ : thread_;
  event_.name = kernel ? kernels_[i / 2 % 16] : launch_;
  const std::uint64_t noise = (i + seed_) * 0x9e3779b97f4a7c15u >> 40;  // as times have, so that compression has work
  event_.start_ns = kStart_ns + static_cast<std::int64_t>(i * 5000 + noise % 3000);
  event_.duration_ns = static_cast<std::int64_t>(1000 + noise % 900);
  event_.correlation = i / 2 + 1;
  return event_;
}

cli::Facts ManyEvents::facts(const cli::Event& event) const {
  return event.kind == cli::Kind::kernel ? cli::Facts(kernel_) : cli::Facts(call_);
}

}  // namespace bench
