#include "cli/timeline/collectives/operations.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace cli {
namespace {

struct OperationName {
  Operation operation;
  std::string_view name;
};
constexpr std::array<OperationName, static_cast<std::size_t>(Operation::count_)> kOperationNames{{
    {Operation::unknown, "unknown"},
    {Operation::all_reduce, "all_reduce"},
    {Operation::all_gather, "all_gather"},
    {Operation::reduce_scatter, "reduce_scatter"},
    {Operation::all_to_all, "all_to_all"},
    {Operation::broadcast, "broadcast"},
    {Operation::reduce, "reduce"},
    {Operation::gather, "gather"},
    {Operation::scatter, "scatter"},
    {Operation::barrier, "barrier"},
    {Operation::send, "send"},
    {Operation::receive, "receive"},
    {Operation::send_receive, "send_receive"},
}};
static_assert(std::all_of(kOperationNames.begin(), kOperationNames.end(), [](const OperationName& entry) {
  return &entry - kOperationNames.data() == static_cast<int>(entry.operation);
}));

constexpr OperationName kNcclCalls[] = {
    {Operation::all_reduce, "ncclAllReduce"},
    {Operation::all_gather, "ncclAllGather"},
    {Operation::reduce_scatter, "ncclReduceScatter"},
    {Operation::all_to_all, "ncclAlltoAll"},
    {Operation::all_to_all, "ncclAllToAll"},
    {Operation::broadcast, "ncclBroadcast"},
    {Operation::broadcast, "ncclBcast"},
    {Operation::reduce, "ncclReduce"},
    {Operation::gather, "ncclGather"},
    {Operation::scatter, "ncclScatter"},
    {Operation::send, "ncclSend"},
    {Operation::receive, "ncclRecv"},
};

// PyTorch's names without '_', which differs between versions; longer names first. Source:
// torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, RECORD_PARAM_COMMS.
constexpr OperationName kPytorchNames[] = {
    {Operation::reduce_scatter, "reducescatter"},
    {Operation::all_reduce, "allreduce"},
    {Operation::all_gather, "allgather"},
    {Operation::all_to_all, "alltoall"},
    {Operation::broadcast, "broadcast"},
    {Operation::scatter, "scatter"},
    {Operation::barrier, "barrier"},
    {Operation::receive, "recv"},
    {Operation::gather, "gather"},
    {Operation::reduce, "reduce"},
    {Operation::send, "send"},
};

// The part after the family's name and its first '_' (src/device/generate.py of NCCL). Generic kernels perform any
// operation.
constexpr OperationName kKernelNames[] = {
    {Operation::all_reduce, "AllReduce"},         {Operation::all_gather, "AllGather"},
    {Operation::reduce_scatter, "ReduceScatter"}, {Operation::all_to_all, "AlltoAll"},
    {Operation::broadcast, "Broadcast"},          {Operation::reduce, "Reduce"},
    {Operation::send_receive, "SendRecv"},
};

struct ElementSize {
  std::string_view type;
  std::uint32_t bytes;
};
constexpr ElementSize kElements[] = {
    {"Byte", 1},
    {"Char", 1},
    {"Bool", 1},
    {"Float8_e4m3fn", 1},
    {"Float8_e5m2", 1},
    {"Short", 2},
    {"UInt16", 2},
    {"Half", 2},
    {"BFloat16", 2},
    {"Int", 4},
    {"UInt32", 4},
    {"Float", 4},
    {"ComplexHalf", 4},
    {"Long", 8},
    {"UInt64", 8},
    {"Double", 8},
    {"ComplexFloat", 8},
    {"ComplexDouble", 16},
    {"Float8_e4m3fnuz", 1},
    {"Float8_e5m2fnuz", 1},
};

// Returns the word for the operation in a kernel's name: ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...),
// ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(...), ncclSymkDevKernel_AllGather_LL(...), mangled or not.
std::string_view word_of_kernel(std::string_view kernel) {
  const std::size_t at = kernel.find("Kernel_");
  if (at == std::string_view::npos) return {};
  kernel.remove_prefix(at + std::string_view("Kernel_").size());
  return kernel.substr(0, kernel.find_first_of("_(<"));
}

template <typename Entries>
Operation find_exactly(const Entries& entries, std::string_view name) {
  const auto found = std::find_if(std::begin(entries), std::end(entries),
                                  [&](const OperationName& entry) { return entry.name == name; });
  return found == std::end(entries) ? Operation::unknown : found->operation;
}

// Returns true if the buffer consists of a message of each rank.
bool has_message_of_each(Operation operation) {
  return operation == Operation::all_gather || operation == Operation::reduce_scatter ||
         operation == Operation::all_to_all || operation == Operation::gather || operation == Operation::scatter;
}

}  // namespace

std::string_view operation_name(Operation operation) {
  return kOperationNames[static_cast<std::size_t>(operation)].name;
}

Operation operation_of_call(std::string_view nccl_call) { return find_exactly(kNcclCalls, nccl_call); }

Operation operation_of_pytorch(std::string_view collective) {
  std::array<char, 64> letters{};
  std::size_t length = 0;
  for (const char c : collective) {
    if (c == '_' || length == letters.size()) continue;
    letters[length++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  const std::string_view plain(letters.data(), length);
  for (const OperationName& entry : kPytorchNames) {
    if (plain.find(entry.name) != std::string_view::npos) return entry.operation;
  }
  return Operation::unknown;
}

Operation operation_of_kernel(std::string_view kernel) { return find_exactly(kKernelNames, word_of_kernel(kernel)); }

std::optional<std::int64_t> size_of_messages(Operation operation, std::uint64_t message_bytes, std::int64_t ranks) {
  const bool one_each = has_message_of_each(operation);
  std::int64_t size = 0;
  if (one_each && ranks <= 0) return {};
  if (__builtin_mul_overflow(message_bytes, one_each ? ranks : std::int64_t{1}, &size)) return {};
  return size;
}

std::optional<std::int64_t> size_of_buffers(std::int64_t in_elements, std::int64_t out_elements,
                                            std::string_view data_type) {
  const std::int64_t elements = std::max(in_elements, out_elements);
  const std::uint32_t each = element_bytes(data_type);
  std::int64_t size = 0;
  if (elements < 0 || each == 0 || __builtin_mul_overflow(elements, std::int64_t{each}, &size)) return {};
  return size;
}

std::uint32_t element_bytes(std::string_view data_type) {
  const auto found = std::find_if(std::begin(kElements), std::end(kElements),
                                  [&](const ElementSize& entry) { return entry.type == data_type; });
  return found == std::end(kElements) ? 0 : found->bytes;
}

std::optional<double> bus_factor(Operation operation, std::int64_t ranks) {
  if (ranks <= 0) return {};
  const double n = static_cast<double>(ranks);
  if (operation == Operation::all_reduce) return 2 * (n - 1) / n;
  if (has_message_of_each(operation)) return (n - 1) / n;
  const bool is_one_way = operation == Operation::broadcast || operation == Operation::reduce ||
                          operation == Operation::send || operation == Operation::receive;
  return is_one_way ? std::optional(1.0) : std::nullopt;
}

}  // namespace cli
