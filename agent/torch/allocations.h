// The caching allocator of PyTorch as a source of events (trace::AllocatorRecord), for TRACETOOL_TORCH=memory and all.
//
// libc10_cuda.so calls c10::reportMemoryUsageToProfiler() after each allocation and release of a block, and
// c10::reportOutOfMemoryToProfiler() before it throws OutOfMemoryError, even without a profiler. Both are functions of
// libc10.so, so libc10_cuda calls them through its global offset table. The agent replaces these two entries and passes
// each call on. Source: c10/core/Allocator.h and c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.1 to 2.15; the names of
// the functions, and thus their parameters, are the same in all of them.
//
// PyTorch calls them with the lock of the device's allocator held. The functions therefore only write a record, with
// the Python stack for an allocation. As in all sources, the first record of a thread also gets the thread's state from a
// pool and defines the thread's name, which takes locks of the agent for a short time. No holder of these locks waits for
// PyTorch or Python.
#pragma once
#include <cstdint>

namespace agent {

// Replaces the entries, if libc10_cuda is loaded by now and the level includes allocations. Later calls check that
// they are still replaced. If anything differs from the description above, one line reports it and this source stays off. For one of our threads
// at a time: it takes the loader's lock.
void watch_allocations() noexcept;
// Returns the number of allocations, releases and failures so far, including records that were lost. For any thread.
std::uint64_t allocations_recorded() noexcept;

}  // namespace agent
