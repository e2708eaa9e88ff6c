#include "nccl.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "nccl_schemas.h"
#include "nvtx.h"

namespace sim {
namespace {

constexpr int kSum = 0;  // ncclSum
constexpr std::uint32_t kSplitLane = 1, kPeerLane = 2;

struct Launch {
  CUfunction kernel;
  CUstream stream;
  KernelWork work;
};
struct Gather {
  Communicator communicator;
  std::uint64_t bytes;
  CUstream stream;
};
thread_local int t_depth = 0;                               // of groups
thread_local std::vector<std::function<void()>> t_pending;  // what waits for the end of its group

void say_pop() {
  Line line = host_line("nvtx_pop");
  say(line.text("domain", "NCCL"));
}

void pop() {
  say_pop();
  nvtxDomainRangePop(nccl_domain());
}

Line& add_comm(Line& line, const Communicator& of) {
  return line.number("communicator", of.hash)
      .number("ranks", of.ranks)
      .number("rank", of.rank)
      .number("device", of.device);
}

void check(int result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "simulated_training: NCCL's %s could not be launched: %d\n", what, result);
  std::exit(2);
}

void launch(const Launch& what) {
  void* params[] = {const_cast<KernelWork*>(&what.work)};
  CUlaunchConfig config{};
  config.gridDimX = 24;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 512;
  config.sharedMemBytes = 83'296;
  config.hStream = what.stream;
  CUlaunchAttribute cluster{};  // as NCCL launches on compute capability 9.0
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim.x = 4, cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
  config.attrs = &cluster, config.numAttrs = 1;
  check(cuLaunchKernelEx(&config, what.kernel, params, nullptr), "kernel");
}

void copy(const Gather& what, std::uint64_t bytes, int rank) {
  const auto device = static_cast<std::uint32_t>(what.communicator.device + rank - what.communicator.rank);
  void* const to = reinterpret_cast<void*>(simulated_mapped_memory(device));
  void* const from =
      reinterpret_cast<void*>(simulated_mapped_memory(static_cast<std::uint32_t>(what.communicator.device)));
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, what.stream), "copy");
}

void tell_others(const Gather& what) {
  for (int rank = 0; rank < what.communicator.ranks; ++rank) {
    if (rank != what.communicator.rank) copy(what, sizeof(std::uint32_t), rank);
  }
}

void launch(const Gather& what) {
  tell_others(what);
  for (int i = 0; i < what.communicator.ranks; ++i) {
    copy(what, what.bytes, (what.communicator.rank + i) % what.communicator.ranks);
  }
  tell_others(what);
}

// Where no group is open, now.
template <typename Work>
void launch_or_keep(const Work& what) {
  const auto now = [what] {
    simulated_communicates(1);
    launch(what);
    simulated_communicates(0);
  };
  if (t_depth > 0) return t_pending.push_back(now);
  now();
}

Launch describe(CUfunction kernel, CUstream stream, Meeting meeting, std::uint64_t transfer_ns) {
  Launch made{kernel, stream, {}};
  made.work.duration_ns = transfer_ns;
  made.work.meeting = meeting;
  return made;
}

Line call_line(const char* name, const Communicator& communicator, std::uint64_t bytes, int nccl_class) {
  Line line = host_line("nccl_call");
  line.text("domain", "NCCL").text("name", name).number("communicator", communicator.hash);
  line.number("bytes", bytes).number("class", nccl_class);
  return line;
}

void push_plain(const char* name, nvtxStringHandle_t registered) {
  Line line = host_line("nvtx_push");
  say(line.text("domain", "NCCL").text("name", name));
  push_nccl(registered, nullptr);
}

// Its hash is a digest of the parent's, the color and the count of splits.
Communicator describe_part(const Communicator& parent, int parts) {
  const int color = parent.rank % parts;
  Communicator part = parent;
  part.hash = (parent.hash ^ static_cast<std::uint64_t>(color + 1)) * 0x9e3779b97f4a7c15u;
  part.ranks = (parent.ranks - color + parts - 1) / parts;
  part.rank = parent.rank / parts;
  part.members = {0, kSplitLane, static_cast<std::uint32_t>(color), static_cast<std::uint32_t>(parts),
                  static_cast<std::uint32_t>(part.ranks)};
  return part;
}

}  // namespace

void begin_comm_init() {
  static nvtxStringHandle_t const name = nvtxDomainRegisterStringA(nccl_domain(), "ncclCommInitRank");
  push_plain("ncclCommInitRank", name);
  register_reduction_ops();
}

void end_comm_init(const Communicator& communicator) {
  register_comm_schema(kCommInitRank);
  const CommParams params{communicator.hash, communicator.ranks, communicator.rank, communicator.device};
  nvtxPayloadData_t payload{kCommInitRank, sizeof(params), &params};
  Line line = host_line("nvtx_pop");
  line.text("domain", "NCCL").text("init", "ncclCommInitRank");
  say(add_comm(line, communicator));
  nvtxRangePopPayload(nccl_domain(), &payload, 1);
}

Communicator comm_split(const Communicator& parent, int parts) {
  static nvtxStringHandle_t const name = nvtxDomainRegisterStringA(nccl_domain(), "ncclCommSplit");
  push_plain("ncclCommSplit", name);
  register_split_schema();
  const Communicator part = describe_part(parent, parts);
  const int color = parent.rank % parts;
  const SplitParams params{part.hash, parent.hash, parent.ranks, parent.rank, parent.device, color, parent.rank};
  nvtxPayloadData_t payload{kCommSplit, sizeof(params), &params};
  Line line = host_line("nvtx_pop");
  line.text("domain", "NCCL").text("init", "ncclCommSplit").number("parent", parent.hash);
  line.number("color", color).number("key", parent.rank);
  say(add_comm(line, part));
  nvtxRangePopPayload(nccl_domain(), &payload, 1);
  return part;
}

void all_reduce(const Communicator& communicator, std::uint64_t bytes, CUfunction kernel, CUstream stream,
                std::uint64_t transfer_ns) {
  static const bool registered = (register_reduction_schema(), true);
  (void)registered;
  static nvtxStringHandle_t const name = nvtxDomainRegisterStringA(nccl_domain(), "ncclAllReduce");
  const CollectiveParams params{communicator.hash, bytes, kSum};
  const nvtxPayloadData_t payload{kAllReduce, sizeof(params), &params};
  Meeting meeting = communicator.members;
  meeting.number = simulated_next_collective(meeting.lane);
  Line line = call_line("ncclAllReduce", communicator, bytes, 1);
  say(line.number("reduction_op", kSum).number("collective", meeting.number));
  push_nccl(name, &payload);
  launch_or_keep(describe(kernel, stream, meeting, transfer_ns));
  pop();
}

void all_gather(const Communicator& communicator, std::uint64_t bytes, CUstream stream) {
  static const bool registered = (register_gather_schema(), true);
  (void)registered;
  static nvtxStringHandle_t const name = nvtxDomainRegisterStringA(nccl_domain(), "ncclAllGather");
  const GatherParams params{communicator.hash, bytes};
  const nvtxPayloadData_t payload{kAllGather, sizeof(params), &params};
  Line line = call_line("ncclAllGather", communicator, bytes, 1);
  say(line);
  push_nccl(name, &payload);
  launch_or_keep(Gather{communicator, bytes, stream});
  pop();
}

void send(const Communicator& communicator, std::uint64_t bytes, int peer) {
  static const bool registered = (register_peer_schema(kSend), true);
  (void)registered;
  static nvtxStringHandle_t const name = nvtxDomainRegisterStringA(nccl_domain(), "ncclSend");
  const CollectiveParams params{communicator.hash, bytes, peer};
  const nvtxPayloadData_t payload{kSend, sizeof(params), &params};
  Line line = call_line("ncclSend", communicator, bytes, 2);
  say(line.number("peer", peer));
  push_nccl(name, &payload);
  pop();
}

void receive(const Communicator& communicator, std::uint64_t bytes, int peer, CUfunction kernel, CUstream stream,
             std::uint64_t transfer_ns) {
  static const bool registered = (register_peer_schema(kReceive), true);
  (void)registered;
  static nvtxStringHandle_t const name = nvtxDomainRegisterStringA(nccl_domain(), "ncclRecv");
  const CollectiveParams params{communicator.hash, bytes, peer};
  const nvtxPayloadData_t payload{kReceive, sizeof(params), &params};
  Meeting meeting{simulated_next_collective(kPeerLane), kPeerLane};
  Line line = call_line("ncclRecv", communicator, bytes, 3);
  say(line.number("peer", peer));
  push_nccl(name, &payload);
  launch_or_keep(describe(kernel, stream, meeting, transfer_ns));
  pop();
}

void group_start() {
  static nvtxStringHandle_t const name = nvtxDomainRegisterStringA(nccl_domain(), "ncclGroupStart");
  push_plain("ncclGroupStart", name);
  ++t_depth;
  pop();
}

void group_end() {
  static nvtxStringHandle_t const name = nvtxDomainRegisterStringA(nccl_domain(), "ncclGroupEnd");
  push_plain("ncclGroupEnd", name);
  if (--t_depth == 0) {
    for (const auto& launch_now : t_pending) launch_now();
    t_pending.clear();
  }
  pop();
}

void comm_destroy(const Communicator& communicator) {
  static const bool registered = (register_comm_schema(kCommDestroy), true);
  (void)registered;
  static nvtxStringHandle_t const name = nvtxDomainRegisterStringA(nccl_domain(), "ncclCommDestroy");
  const CommParams params{communicator.hash, communicator.ranks, communicator.rank, communicator.device};
  const nvtxPayloadData_t payload{kCommDestroy, sizeof(params), &params};
  Line line = host_line("nvtx_push");
  line.text("domain", "NCCL").text("name", "ncclCommDestroy");
  say(add_comm(line, communicator));
  push_nccl(name, &payload);
  pop();
}

}  // namespace sim
