// early BEFORE AFTER: BEFORE marks and ranges before the first call into CUDA, then launches, then AFTER more. With
// BEFORE of 0 the first NVTX call comes after CUDA's. "none" for AFTER: CUDA is never called.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gpu.h"

namespace {

void annotate(const char* when, int count) {
  char text[64];
  for (int i = 0; i < count; ++i) {
    std::snprintf(text, sizeof(text), "%s %d", when, i);
    nvtxRangePushA(text);
    nvtxMarkA(text);
    nvtxRangePop();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  annotate("before", std::atoi(argv[1]));
  if (std::strcmp(argv[2], "none") != 0) {
    const programs::Gpu gpu;
    gpu.launch_many(100);
    annotate("after", std::atoi(argv[2]));
    gpu.wait();
  }
  std::puts("done");
  return 0;
}
