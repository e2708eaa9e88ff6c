// What collectives do: their operations, by the names that NCCL, PyTorch and kernels give them, and how much they move.
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
  send_receive,  // a kernel of sends and receives, of which an all-to-all may consist
  count_
};

// "all_reduce".
std::string_view operation_name(Operation operation);

// unknown: it is none that is known.
Operation operation_of_call(std::string_view nccl_call);     // "ncclAllReduce"
Operation operation_of_pytorch(std::string_view collective);  // "_allgather_base", "allreduce_coalesced"
Operation operation_of_kernel(std::string_view kernel);       // "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)"

// No rank can be done before the last one has begun. Of other operations some ranks may be.
constexpr bool all_depend_on_all(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::all_gather || operation == Operation::reduce_scatter ||
         operation == Operation::all_to_all || operation == Operation::barrier;
}

// The message has the same size on every rank.
constexpr bool has_one_size(Operation operation) {
  return operation != Operation::all_to_all && operation != Operation::gather && operation != Operation::scatter &&
         operation != Operation::send_receive;
}

constexpr bool has_root(Operation operation) {
  return operation == Operation::broadcast || operation == Operation::reduce || operation == Operation::gather ||
         operation == Operation::scatter;
}

// "size" of nccl-tests (doc/PERFORMANCE.md there), which algorithm bandwidth is computed from, where NCCL's NVTX payload
// tells the size of one message (src/collectives.cc): that of one rank, of which the buffer of an all-gather, a
// reduce-scatter, an all-to-all, a gather or a scatter holds one for each rank. Empty: it does not fit into 64 bits.
std::optional<std::int64_t> size_of_messages(Operation operation, std::uint64_t message_bytes, std::int64_t ranks);

// The same from PyTorch's profile, which tells the elements of both buffers of a rank: the larger of them. Empty: the type or
// the elements are not known.
std::optional<std::int64_t> size_of_buffers(std::int64_t in_elements, std::int64_t out_elements, std::string_view data_type);

// By c10::toString of the scalar type: 2 of "BFloat16"; 0: it is none that is known.
std::uint32_t element_bytes(std::string_view data_type);

// Bus bandwidth over algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md); empty where it is not defined.
std::optional<double> bus_factor(Operation operation, std::int64_t ranks);

}  // namespace cli
