// How a program says what a simulated kernel does: the first kernel argument points to a KernelWork. Without one, or
// without the magic number in it, a kernel takes kDefaultKernelNs, or what SIM_KERNEL_NS says.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

inline constexpr std::uint64_t kWorkMagic = 0x534b524f57304d49u;
inline constexpr std::uint64_t kDefaultKernelNs = 5'000;

// Where the same kernel of several ranks meets: they end together. A lane is one communicator of each rank; ranks that
// do not talk to each other may have the same lane. The members are the ranks first, first + stride, ...
struct Meeting {
  std::uint64_t number = 0;                                  // of the collective within its lane, from 1; 0: none
  std::uint32_t lane = 0, first = 0, stride = 1, count = 0;  // count 0: all ranks
};

inline constexpr std::uint64_t kNeverEnds = ~std::uint64_t{0};

struct KernelWork {
  std::uint64_t magic = kWorkMagic;
  // Alone: how long it runs. In a collective: how long it takes from the latest start over the ranks.
  std::uint64_t duration_ns = kDefaultKernelNs;  // kNeverEnds: the kernel hangs
  Meeting meeting{};
};

// A module is text: this line, then one line per kernel: registers, static shared bytes, local bytes, name to the end.
inline constexpr char kModuleHeader[] = "simulated module\n";

}  // namespace sim

// Exported by libcuda.so.1 for the training program.
extern "C" {
// Joins the ranks' shared area (collective_area.h); before the first collective. `area` stays the caller's.
void simulated_join(void* area, std::uint32_t rank);
// One line of truth, without its newline; `flush`: it is in the file when the call returns.
void simulated_truth(const char* line, std::size_t size, int flush);
// The number of the next collective in a lane. A graph takes numbers of its own at each launch.
std::uint64_t simulated_next_collective(std::uint32_t lane);
// CUPTI's numbers of a stream and its context; nothing where there is no such stream.
void simulated_stream(void* stream, std::uint32_t* stream_id, std::uint32_t* context_id);
// An address of memory of this device, by its number, that is mapped into the process: NCCL maps its windows like that.
std::uintptr_t simulated_mapped_memory(std::uint32_t device);
// What this thread launches or captures until it says otherwise is communication: the truth says so of each piece of it.
void simulated_communicates(int yes);
// The next number in the order of events of this process.
std::uint64_t simulated_next_seq();
// Makes CUPTI deliver the records of SIM_CUPTI_REPLAY. Returns 0 if CUPTI is not loaded or the file does not exist.
int simulated_replay();
}
