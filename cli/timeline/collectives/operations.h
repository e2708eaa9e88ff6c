// Operations of collectives, by the names that NCCL, PyTorch and kernels use, and the sizes of their data.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace cli {

enum class Operation : std::uint8_t {
  unknown,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  barrier,
  send,
  receive,
  send_receive,  // a kernel of sends and receives, as used for an all-to-all
  count_
};

// Returns a name such as "all_reduce".
std::string_view operation_name(Operation operation);

// Return Operation::unknown if the name is not known.
Operation operation_of_call(std::string_view nccl_call);      // "ncclAllReduce"
Operation operation_of_pytorch(std::string_view collective);  // "_allgather_base", "allreduce_coalesced"
Operation operation_of_kernel(std::string_view kernel);       // "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)"

// Returns true if no rank can finish before the last rank has begun.
constexpr bool all_depend_on_all(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::all_gather ||
         operation == Operation::reduce_scatter || operation == Operation::all_to_all ||
         operation == Operation::barrier;
}

// Returns true if the message has the same size on every rank.
constexpr bool has_one_size(Operation operation) {
  return operation != Operation::all_to_all && operation != Operation::gather && operation != Operation::scatter &&
         operation != Operation::send_receive;
}

constexpr bool has_root(Operation operation) {
  return operation == Operation::broadcast || operation == Operation::reduce || operation == Operation::gather ||
         operation == Operation::scatter;
}

// Returns "size" as defined by nccl-tests (doc/PERFORMANCE.md), from which algorithm bandwidth is computed.
// `message_bytes` is the size in NCCL's NVTX payload (src/collectives.cc): that of one rank. For an all-gather,
// reduce-scatter, all-to-all, gather or scatter, the size of the buffer is that of `ranks` messages. Returns nullopt if
// it does not fit into 64 bits.
std::optional<std::int64_t> size_of_messages(Operation operation, std::uint64_t message_bytes, std::int64_t ranks);

// The same from PyTorch's profile, which contains the number of elements of both buffers of a rank: uses the larger
// one. Returns nullopt if the type or the numbers are unknown.
std::optional<std::int64_t> size_of_buffers(std::int64_t in_elements, std::int64_t out_elements,
                                            std::string_view data_type);

// Returns the size of a scalar type by its c10::toString name: 2 for "BFloat16"; 0 if unknown.
std::uint32_t element_bytes(std::string_view data_type);

// Returns bus bandwidth divided by algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md); nullopt if it is undefined.
std::optional<double> bus_factor(Operation operation, std::int64_t ranks);

}  // namespace cli
