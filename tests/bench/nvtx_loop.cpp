// nvtx_loop COUNT: prints the ns of an NVTX push and pop, and of a call of NCCL as NVTX sees it, each the fastest of a
// few runs of COUNT. Links nothing of ours: bench runs it with the agent and without.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

double now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

template <typename Run>
double fastest_ns(long count, const Run& run) {
  double best = 1e300;
  for (int round = 0; round < 9; ++round) {
    const double before = now_ns();
    for (long i = 0; i < count; ++i) run();
    const double each = (now_ns() - before) / static_cast<double>(count);
    if (each < best) best = each;
  }
  return best;
}

struct AllReduce {
  std::uint64_t communicator, bytes;
  std::uint32_t op;
};

nvtxEventAttributes_t all_reduce_event(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "ncclAllReduce");
  event.payloadType = static_cast<std::int32_t>(NVTX_PAYLOAD_TYPE_EXT);
  event.reserved0 = 1;
  event.payload.ullValue = reinterpret_cast<std::uint64_t>(payload);
  return event;
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 100'000;
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
  const AllReduce call{0x77, 4096, 0};
  const nvtxPayloadData_t payload{(1u << 24) + 5, sizeof(call), &call};
  const nvtxEventAttributes_t event = all_reduce_event(domain, &payload);
  // First, because it opens the recording.
  const double nccl_ns = fastest_ns(count, [&] {
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
  });
  const double range_ns = fastest_ns(count, [] {
    nvtxRangePushA("forward");
    nvtxRangePop();
  });
  printf("%.3f %.3f\n", range_ns, nccl_ns);
  return 0;
}
