// How a program says what a simulated kernel does: the first kernel argument points to a KernelWork. Without one, or
// without the magic number in it, a kernel takes kDefaultKernelNs.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

inline constexpr std::uint64_t kWorkMagic = 0x534b524f57304d49u;
inline constexpr std::uint64_t kDefaultKernelNs = 5'000;

struct KernelWork {
  std::uint64_t magic = kWorkMagic;
  // Alone: how long it runs. In a collective: how long it takes from the latest start over the ranks.
  std::uint64_t duration_ns = kDefaultKernelNs;
  std::uint64_t collective = 0;  // number of the collective within the job, from 1; 0: none
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
// The next number in the order of events of this process.
std::uint64_t simulated_next_seq();
}
