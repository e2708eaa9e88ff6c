#include "nccl.h"

#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "../standin/work.h"
#include "nvtx.h"

namespace sim {
namespace {

// NCCL's schema ids: numbers of its own from NVTX's first static id.
constexpr std::uint64_t kStatic = 1 << 24;
constexpr std::uint64_t kCommInitRank = kStatic + 0, kCommDestroy = kStatic + 2, kAllReduce = kStatic + 5;
constexpr std::uint64_t kReductionOp = kStatic + 20;
constexpr int kSum = 0;  // ncclSum

struct CommParams {
  std::uint64_t communicator;
  int ranks, rank, device;
};
struct AllReduceParams {
  std::uint64_t communicator;
  std::size_t bytes;
  int op;  // ncclRedOp_t
};
static_assert(sizeof(CommParams) == 24 && sizeof(AllReduceParams) == 24);

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::size_t offset) {
  nvtxPayloadSchemaEntry_t made{};
  made.type = type;
  made.name = name;
  made.offset = offset;
  return made;
}

nvtxDomainHandle_t domain() {
  static nvtxDomainHandle_t const made = nvtxDomainCreateA("NCCL");
  return made;
}

template <std::size_t Count>
bool register_schema(std::uint64_t id, const nvtxPayloadSchemaEntry_t (&entries)[Count], std::size_t size) {
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.flags = NVTX_PAYLOAD_SCHEMA_FLAG_NONE;
  schema.payloadStaticSize = size;
  schema.entries = entries;
  schema.numEntries = Count;
  schema.schemaId = id;
  nvtxPayloadSchemaRegister(domain(), &schema);
  return true;
}

// Once per call, as NCCL does it with function statics.
bool register_comm_schema(std::uint64_t id) {
  const nvtxPayloadSchemaEntry_t entries[] = {
      entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", offsetof(CommParams, communicator)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", offsetof(CommParams, ranks)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", offsetof(CommParams, rank)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device", offsetof(CommParams, device))};
  return register_schema(id, entries, sizeof(CommParams));
}

bool register_all_reduce_schema() {
  const nvtxPayloadSchemaEntry_t entries[] = {
      entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", offsetof(AllReduceParams, communicator)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", offsetof(AllReduceParams, bytes)),
      entry(kReductionOp, "Reduction operation", offsetof(AllReduceParams, op))};
  return register_schema(kAllReduce, entries, sizeof(AllReduceParams));
}

// ncclInitNvtxRegisteredEnums, inside the first init.
void register_reduction_ops() {
  static const nvtxPayloadEnum_t ops[] = {
      {"Sum", 0, 0}, {"Product", 1, 0}, {"Max", 2, 0}, {"Min", 3, 0}, {"Avg", 4, 0}};
  nvtxPayloadEnumAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  attributes.entries = ops;
  attributes.numEntries = std::size(ops);
  attributes.sizeOfEnum = sizeof(int);
  attributes.schemaId = kReductionOp;
  nvtxPayloadEnumRegister(domain(), &attributes);
}

void push(nvtxStringHandle_t name, const nvtxPayloadData_t* payload) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = name;
  if (payload != nullptr) {
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;  // how many payloads
    attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(payload);
  }
  nvtxDomainRangePushEx(domain(), &attributes);
}

void say_pop() {
  Line line = host_line("nvtx_pop");
  say(line.text("domain", "NCCL"));
}

Line& add_comm(Line& line, const Communicator& of) {
  return line.number("communicator", of.hash)
      .number("ranks", of.ranks)
      .number("rank", of.rank)
      .number("device", of.device);
}

void launch(CUfunction kernel, CUstream stream, std::uint64_t collective, std::uint64_t transfer_ns) {
  KernelWork work;
  work.duration_ns = transfer_ns;
  work.meeting.number = collective;
  void* params[] = {&work};
  CUlaunchConfig config{};
  config.gridDimX = 24;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 512;
  config.sharedMemBytes = 83'296;
  config.hStream = stream;
  if (cuLaunchKernelEx(&config, kernel, params, nullptr) == CUDA_SUCCESS) return;
  std::fputs("simulated_training: the all-reduce could not be launched\n", stderr);
  std::exit(2);
}

}  // namespace

void begin_comm_init() {
  Line line = host_line("nvtx_push");
  say(line.text("domain", "NCCL").text("name", "ncclCommInitRank"));
  static nvtxStringHandle_t const name = nvtxDomainRegisterStringA(domain(), "ncclCommInitRank");
  push(name, nullptr);
  register_reduction_ops();
}

void end_comm_init(const Communicator& communicator) {
  static const bool registered = register_comm_schema(kCommInitRank);
  (void)registered;
  const CommParams params{communicator.hash, communicator.ranks, communicator.rank, communicator.device};
  nvtxPayloadData_t payload{kCommInitRank, sizeof(params), &params};
  Line line = host_line("nvtx_pop");
  line.text("domain", "NCCL").text("init", "ncclCommInitRank");
  say(add_comm(line, communicator));
  nvtxRangePopPayload(domain(), &payload, 1);
}

void all_reduce(const Communicator& communicator, std::uint64_t bytes, CUfunction kernel, CUstream stream,
                std::uint64_t collective, std::uint64_t transfer_ns) {
  static const bool registered = register_all_reduce_schema();
  (void)registered;
  static nvtxStringHandle_t const name = nvtxDomainRegisterStringA(domain(), "ncclAllReduce");
  const AllReduceParams params{communicator.hash, bytes, kSum};
  const nvtxPayloadData_t payload{kAllReduce, sizeof(params), &params};
  Line line = host_line("nccl_call");
  line.text("domain", "NCCL").text("name", "ncclAllReduce").number("communicator", communicator.hash);
  say(line.number("bytes", bytes).number("reduction_op", kSum).number("collective", collective));
  push(name, &payload);
  launch(kernel, stream, collective, transfer_ns);
  say_pop();
  nvtxDomainRangePop(domain());
}

void comm_destroy(const Communicator& communicator) {
  static const bool registered = register_comm_schema(kCommDestroy);
  (void)registered;
  static nvtxStringHandle_t const name = nvtxDomainRegisterStringA(domain(), "ncclCommDestroy");
  const CommParams params{communicator.hash, communicator.ranks, communicator.rank, communicator.device};
  const nvtxPayloadData_t payload{kCommDestroy, sizeof(params), &params};
  Line line = host_line("nvtx_push");
  line.text("domain", "NCCL").text("name", "ncclCommDestroy");
  say(add_comm(line, communicator));
  push(name, &payload);
  say_pop();
  nvtxDomainRangePop(domain());
}

}  // namespace sim
