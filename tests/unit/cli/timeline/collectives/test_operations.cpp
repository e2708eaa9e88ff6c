// Names, sizes and bus bandwidth of collectives.
#include "cli/timeline/collectives/operations.h"
#include "tests/unit/catch.h"

using namespace cli;

TEST_CASE("operations: by the names of NCCL, PyTorch and kernels") {
  CHECK(operation_of_call("ncclAllReduce") == Operation::all_reduce);
  CHECK(operation_of_call("ncclGroupEnd") == Operation::unknown);
  for (const auto& [name, operation] : {std::pair{"_allgather_base", Operation::all_gather},
                                        {"allgather_into_tensor_coalesced", Operation::all_gather},
                                        {"_reduce_scatter_base", Operation::reduce_scatter},
                                        {"allreduce_coalesced", Operation::all_reduce},
                                        {"all_to_allv", Operation::all_to_all},
                                        {"_broadcast_oop", Operation::broadcast},
                                        {"_reduce_oop", Operation::reduce},
                                        {"recvAnySource", Operation::receive},
                                        {"send", Operation::send},
                                        {"gather", Operation::gather},
                                        {"coalesced", Operation::unknown}}) {
    CHECK(operation_of_pytorch(name) == operation);
  }
  CHECK(operation_of_kernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)") ==
        Operation::reduce_scatter);
  CHECK(operation_of_kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)") ==
        Operation::send_receive);
  CHECK(operation_of_kernel("_Z42ncclDevKernel_AllGather_RING_LL24ncclDevKernelArgsStorageILm4096EE") ==
        Operation::all_gather);
  CHECK(operation_of_kernel("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)") == Operation::unknown);
}

TEST_CASE("operations: sizes of nccl-tests from NVTX's messages and from PyTorch's buffers agree") {
  // Eight ranks; each gives 1 MiB of bf16 to an all-gather and has 8 MiB then.
  CHECK(size_of_messages(Operation::all_gather, 1 << 20, 8) == 8 << 20);
  CHECK(size_of_buffers(1 << 19, 8 << 19, "BFloat16") == 8 << 20);
  // The other way round: NCCL counts what a rank receives.
  CHECK(size_of_messages(Operation::reduce_scatter, 1 << 20, 8) == 8 << 20);
  CHECK(size_of_buffers(8 << 19, 1 << 19, "BFloat16") == 8 << 20);
  CHECK(size_of_messages(Operation::all_reduce, 4096, 8) == 4096);
  CHECK(size_of_buffers(1024, 1024, "Float") == 4096);
  CHECK(size_of_messages(Operation::broadcast, 4096, 8) == 4096);
  CHECK(size_of_messages(Operation::all_to_all, 512, 8) == 4096);
  CHECK_FALSE(size_of_messages(Operation::all_gather, 512, -1).has_value());
  CHECK_FALSE(size_of_messages(Operation::all_gather, ~std::uint64_t{0} / 2, 8).has_value());
  CHECK_FALSE(size_of_buffers(10, 10, "").has_value());
  CHECK_FALSE(size_of_buffers(-1, -1, "Float").has_value());
}

TEST_CASE("operations: bus bandwidth of NCCL Inspector's example, and the factors of eight ranks") {
  // NCCL's README of its Inspector plugin: 17.18 GB reduced in 61,974 us, 277.2 and 485.1 GB/s.
  const double algbw = 17'179'869'184.0 / 61'974'000.0;
  CHECK(algbw == Approx(277.2).epsilon(1e-3));
  CHECK(algbw * bus_factor(Operation::all_reduce, 8).value() == Approx(485.1).epsilon(1e-3));
  CHECK(bus_factor(Operation::all_reduce, 8) == 1.75);
  CHECK(bus_factor(Operation::all_gather, 8) == 0.875);
  CHECK(bus_factor(Operation::reduce_scatter, 8) == 0.875);
  CHECK(bus_factor(Operation::all_to_all, 8) == 0.875);
  CHECK(bus_factor(Operation::broadcast, 8) == 1.0);
  CHECK(bus_factor(Operation::send, 2) == 1.0);
  CHECK(bus_factor(Operation::all_reduce, 1) == 0.0);
  CHECK_FALSE(bus_factor(Operation::barrier, 8).has_value());
  CHECK_FALSE(bus_factor(Operation::all_reduce, -1).has_value());
}
