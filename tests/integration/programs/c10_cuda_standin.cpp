// A stand-in for libc10_cuda.so: a caching allocator without a GPU that reports as PyTorch's does, with its lock held.
// It keeps the truth: what it reported, in order.
//   STANDIN_SILENT: it does not report, as a version that reports in another way.
//   STANDIN_WRONG: its reports have other values than the parameters say.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <map>
#include <mutex>
#include <vector>

#include "c10_standin.h"

namespace {

constexpr std::size_t kRounding = 512, kSegmentBytes = std::size_t{2} << 20, kCapacity = std::size_t{64} << 20;
constexpr std::int8_t kCuda = 1;

struct Report {
  const char* action;
  long tid;
  std::int64_t before_ns, after_ns;
  std::uint64_t address, bytes, allocated, reserved;
  std::int64_t stream;
  int device;
};

struct DeviceAllocator {
  std::mutex mutex;
  std::map<std::uint64_t, std::size_t> live;         // bytes by address
  std::multimap<std::size_t, std::uint64_t> cached;  // addresses by bytes
  std::uint64_t next = 0x7f0000000000;
  std::size_t allocated = 0, reserved = 0;
  std::vector<Report> reports;
};
auto& s_devices = *new std::array<DeviceAllocator, 2>;
thread_local std::int64_t t_stream = 0;

std::int64_t mono_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

// `call` reports; it is called with the lock held.
template <typename Call>
void report(DeviceAllocator& of, int device, const char* action, std::uint64_t address, std::uint64_t bytes,
            const Call& call) {
  Report made{action, syscall(SYS_gettid), mono_ns(), 0, address, bytes, of.allocated, of.reserved, t_stream, device};
#ifndef STANDIN_SILENT
#ifdef STANDIN_WRONG
  call(c10::Device{-77, static_cast<std::int8_t>(device)});
#else
  call(c10::Device{kCuda, static_cast<std::int8_t>(device)});
#endif
#else
  (void)call;
  (void)kCuda;
#endif
  made.after_ns = mono_ns();
  of.reports.push_back(made);
}

void report_usage(DeviceAllocator& of, int device, std::uint64_t address, std::int64_t change) {
  report(of, device, change > 0 ? "allocate" : "release", address, static_cast<std::uint64_t>(std::abs(change)),
         [&](c10::Device on) {
           c10::reportMemoryUsageToProfiler(reinterpret_cast<void*>(address), change, of.allocated, of.reserved, on);
         });
}

}  // namespace

c10::cuda::CUDAStream c10::cuda::getCurrentCUDAStream(std::int8_t device) { return {{kCuda, device}, t_stream}; }

extern "C" {

STANDIN_API void standin_set_stream(std::int64_t stream) { t_stream = stream; }

// Returns the address of a block, or 0 if the memory does not suffice.
STANDIN_API std::uint64_t standin_allocate(int device, std::size_t requested) {
  DeviceAllocator& of = s_devices[static_cast<std::size_t>(device)];
  const std::lock_guard lock(of.mutex);
  const std::size_t bytes = (requested + kRounding - 1) / kRounding * kRounding;
  std::uint64_t address = 0;
  if (const auto cached = of.cached.find(bytes); cached != of.cached.end()) {
    address = cached->second;
    of.cached.erase(cached);
  } else {
    const std::size_t segment = std::max(bytes, kSegmentBytes);
    if (of.reserved + segment > kCapacity) {
      report(of, device, "fail", 0, requested, [&](c10::Device on) {
        c10::reportOutOfMemoryToProfiler(static_cast<std::int64_t>(requested), of.allocated, of.reserved, on);
      });
      return 0;
    }
    address = of.next;
    of.next += segment;
    of.reserved += segment;
  }
  of.live[address] = bytes;
  of.allocated += bytes;
  report_usage(of, device, address, static_cast<std::int64_t>(bytes));
  return address;
}

STANDIN_API void standin_release(int device, std::uint64_t address) {
  DeviceAllocator& of = s_devices[static_cast<std::size_t>(device)];
  const std::lock_guard lock(of.mutex);
  const auto block = of.live.find(address);
  const std::size_t bytes = block->second;
  of.live.erase(block);
  of.cached.emplace(bytes, address);
  of.allocated -= bytes;
  report_usage(of, device, address, -static_cast<std::int64_t>(bytes));
}

// Allocates and releases a block `count` times. Returns the time of one report in ns. Keeps no truth.
STANDIN_API std::int64_t standin_repeat(int device, std::size_t count) {
  const std::int64_t begin_ns = mono_ns();
  for (std::size_t i = 0; i < count; ++i) standin_release(device, standin_allocate(device, kRounding));
  const std::int64_t taken_ns = mono_ns() - begin_ns;
  s_devices[static_cast<std::size_t>(device)].reports.clear();
  return taken_ns / static_cast<std::int64_t>(2 * count);
}

// Writes the truth: a line of JSON for each report, by device, in order. Returns their number.
STANDIN_API std::size_t standin_write_truth(const char* path) {
  std::FILE* file = std::fopen(path, "w");
  std::size_t count = 0;
  for (DeviceAllocator& of : s_devices) {
    for (const Report& each : of.reports) {
      std::fprintf(file,
                   "{\"action\": \"%s\", \"tid\": %ld, \"time\": [%lld, %lld], \"address\": %llu, \"bytes\": %llu, "
                   "\"allocated\": %llu, \"reserved\": %llu, \"stream\": %lld, \"device\": %d}\n",
                   each.action, each.tid, static_cast<long long>(each.before_ns), static_cast<long long>(each.after_ns),
                   static_cast<unsigned long long>(each.address), static_cast<unsigned long long>(each.bytes),
                   static_cast<unsigned long long>(each.allocated), static_cast<unsigned long long>(each.reserved),
                   static_cast<long long>(each.stream), each.device);
    }
    count += of.reports.size();
  }
  std::fclose(file);
  return count;
}
}
