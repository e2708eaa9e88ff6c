// A process in which CUPTI's stand-in delivers the records of a report, SIM_CUPTI_REPLAY.
//   replay_report [kill|wait]
// kill: the process ends by SIGKILL after the last record. wait: it prints "delivered" and runs until it is killed.
#include <cuda.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "../standin/work.h"

int main(int argc, char** argv) {
  const std::string_view end = argc > 1 ? argv[1] : "exit";
  CUcontext context;
  if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
      cuCtxSetCurrent(context) != CUDA_SUCCESS || simulated_replay() == 0) {
    std::fprintf(
        stderr, "replay_report: no replay: is the agent in CUDA_INJECTION64_PATH, and the file in SIM_CUPTI_REPLAY?\n");
    return 1;
  }
  if (end == "kill") raise(SIGKILL);
  if (end == "wait") {
    std::puts("delivered");
    std::fflush(stdout);
    for (;;) pause();
  }
  return 0;
}
