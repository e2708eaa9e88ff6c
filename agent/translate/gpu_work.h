// How far the GPU is, as CUPTI's records of its work (kernels, copies, sets, graphs) tell.
#pragma once
#include <algorithm>
#include <cstdint>

namespace agent {

struct GpuWork {
  std::uint64_t ended = 0;       // records with an end
  std::uint64_t unfinished = 0;  // without one: a forced flush took them
  std::uint64_t newest_end_cupti_ns = 0;

  void note(std::uint64_t end_cupti_ns) noexcept {
    ended += end_cupti_ns != 0;
    unfinished += end_cupti_ns == 0;
    newest_end_cupti_ns = std::max(newest_end_cupti_ns, end_cupti_ns);
  }
};

}  // namespace agent
