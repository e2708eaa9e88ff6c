#include "nccl_schemas.h"

#include <iterator>

namespace sim {
namespace {

static_assert(sizeof(CommParams) == 24 && sizeof(CollectiveParams) == 24 && sizeof(SplitParams) == 40);

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::size_t offset) {
  nvtxPayloadSchemaEntry_t made{};
  made.type = type;
  made.name = name;
  made.offset = offset;
  return made;
}

template <std::size_t Count>
void register_schema(std::uint64_t id, const nvtxPayloadSchemaEntry_t (&entries)[Count], std::size_t size) {
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
  nvtxPayloadSchemaRegister(nccl_domain(), &schema);
}

constexpr char kId[] = "NCCL communicator ID", kBytes[] = "Message size [bytes]";

}  // namespace

nvtxDomainHandle_t nccl_domain() {
  static nvtxDomainHandle_t const made = nvtxDomainCreateA("NCCL");
  return made;
}

void register_comm_schema(std::uint64_t id) {
  const nvtxPayloadSchemaEntry_t entries[] = {
      entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, kId, offsetof(CommParams, communicator)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", offsetof(CommParams, ranks)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", offsetof(CommParams, rank)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device", offsetof(CommParams, device))};
  register_schema(id, entries, sizeof(CommParams));
}

void register_split_schema() {
  const nvtxPayloadSchemaEntry_t entries[] = {
      entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, kId, offsetof(SplitParams, communicator)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "Parent NCCL communicator ID", offsetof(SplitParams, parent)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", offsetof(SplitParams, ranks)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", offsetof(SplitParams, rank)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device", offsetof(SplitParams, device)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Color", offsetof(SplitParams, color)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Key", offsetof(SplitParams, key))};
  register_schema(kCommSplit, entries, sizeof(SplitParams));
}

void register_gather_schema() {
  const nvtxPayloadSchemaEntry_t entries[] = {
      entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, kId, offsetof(GatherParams, communicator)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, kBytes, offsetof(GatherParams, bytes))};
  register_schema(kAllGather, entries, sizeof(GatherParams));
}

void register_reduction_schema() {
  const nvtxPayloadSchemaEntry_t entries[] = {
      entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, kId, offsetof(CollectiveParams, communicator)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, kBytes, offsetof(CollectiveParams, bytes)),
      entry(kReductionOp, "Reduction operation", offsetof(CollectiveParams, op_or_peer))};
  register_schema(kAllReduce, entries, sizeof(CollectiveParams));
}

void register_peer_schema(std::uint64_t id) {
  const nvtxPayloadSchemaEntry_t entries[] = {
      entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, kId, offsetof(CollectiveParams, communicator)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, kBytes, offsetof(CollectiveParams, bytes)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Peer rank", offsetof(CollectiveParams, op_or_peer))};
  register_schema(id, entries, sizeof(CollectiveParams));
}

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
  nvtxPayloadEnumRegister(nccl_domain(), &attributes);
}

void push_nccl(nvtxStringHandle_t name, const nvtxPayloadData_t* payload) {
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
  nvtxDomainRangePushEx(nccl_domain(), &attributes);
}

}  // namespace sim
