// A libnccl for tests: it answers with its own number, so that a caller sees which copy it has reached. Without NVTX
// (as before 2.16), or with ranges and payloads as 2.16 to 2.24 give them. Built several times.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#define STANDIN extern "C" __attribute__((visibility("default")))

struct UniqueId {
  char bytes[128];
};

namespace {

// ncclResult_t values that NCCL does not use: which copy it was.
constexpr int kAnswer = STANDIN_ANSWER;

class Range {
 public:
  explicit Range(const char* name, const void* payload = nullptr, std::size_t bytes = 0) {
#if STANDIN_NVTX
    static const nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
    domain_ = domain;
    const nvtxPayloadData_t data{1u << 24, bytes, payload};
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = name;
    if (payload != nullptr) {
      event.payloadType = static_cast<std::int32_t>(NVTX_PAYLOAD_TYPE_EXT);
      event.reserved0 = 1;
      event.payload.ullValue = reinterpret_cast<std::uint64_t>(&data);
    }
    nvtxDomainRangePushEx(domain_, &event);
#else
    (void)name, (void)payload, (void)bytes;
#endif
  }
  ~Range() {
#if STANDIN_NVTX
    nvtxDomainRangePop(domain_);
#endif
  }

 private:
#if STANDIN_NVTX
  nvtxDomainHandle_t domain_ = nullptr;
#endif
};

struct Reduction {
  std::uint64_t bytes;
  int op;
};
struct Peer {
  std::uint64_t bytes;
  int peer;
};

// What a group makes is there when the outermost one ends; one communicator a group.
struct Awaited {
  void** handle;
  UniqueId id;
};
thread_local int t_depth = 0;
thread_local Awaited t_awaited{};

void* make(const UniqueId& id) { return std::malloc(64 + static_cast<unsigned char>(id.bytes[0]) % 2); }

}  // namespace

STANDIN int ncclGetVersion(int* version) {
  *version = STANDIN_VERSION;
  return 0;
}
STANDIN int ncclCommInitRank(void** communicator, int ranks, UniqueId id, int rank) {
  const int payload[] = {rank, ranks, 0};
  const Range range("ncclCommInitRank", payload, sizeof(payload));
  *communicator = t_depth == 0 ? make(id) : nullptr;
  if (t_depth > 0) t_awaited = {communicator, id};
  return 0;
}
STANDIN int ncclCommSplit(void*, int color, int, void** communicator, void*) {
  const Range range("ncclCommSplit");
  *communicator = color >= 0 ? std::malloc(64) : nullptr;
  return 0;
}
STANDIN int ncclCommDestroy(void* communicator) {
  const Range range("ncclCommDestroy");
  std::free(communicator);
  return 0;
}
STANDIN int ncclAllReduce(const void*, void*, std::size_t count, int, int op, void*, void* stream) {
  const Reduction payload{count * 4, op};
  const Range range("ncclAllReduce", &payload, sizeof(payload));
  if (stream == reinterpret_cast<void*>(0xdead)) std::abort();
  return kAnswer;
}
STANDIN int ncclSend(const void*, std::size_t count, int, int peer, void*, void*) {
  const Peer payload{count * 4, peer};
  const Range range("ncclSend", &payload, sizeof(payload));
  return kAnswer;
}
STANDIN int ncclRecv(void*, std::size_t count, int, int peer, void*, void*) {
  const Peer payload{count * 4, peer};
  const Range range("ncclRecv", &payload, sizeof(payload));
  return kAnswer;
}
STANDIN int ncclGroupStart() {
  const Range range("ncclGroupStart");
  ++t_depth;
  return 0;
}
STANDIN int ncclGroupEnd() {
  const Range range("ncclGroupEnd");
  if (--t_depth == 0 && t_awaited.handle != nullptr) *t_awaited.handle = make(t_awaited.id);
  if (t_depth == 0) t_awaited = {};
  return 0;
}
