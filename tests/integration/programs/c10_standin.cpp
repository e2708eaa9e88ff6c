// A stand-in for libc10.so: the functions by which PyTorch's allocator reports to a profiler. Counts the calls that
// reach it, so that a test sees that each report is passed on.
#include "c10_standin.h"

#include <atomic>

namespace {
std::atomic<std::uint64_t> s_reports{0};
}

void c10::reportMemoryUsageToProfiler(void*, std::int64_t, std::size_t, std::size_t, Device) { ++s_reports; }
void c10::reportOutOfMemoryToProfiler(std::int64_t, std::size_t, std::size_t, Device) { ++s_reports; }

extern "C" STANDIN_API std::uint64_t standin_reports() { return s_reports; }
