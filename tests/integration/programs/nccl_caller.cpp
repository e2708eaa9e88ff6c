// A library that calls NCCL, as PyTorch's does; the program loads it RTLD_LOCAL. Built with and without need of a
// libnccl of its own.
#include <cstddef>

#define CALLER extern "C" __attribute__((visibility("default")))

struct UniqueId {
  char bytes[128];
};
extern "C" {
int ncclCommInitRank(void** communicator, int ranks, UniqueId id, int rank);
int ncclCommSplit(void* parent, int color, int key, void** communicator, void* config);
int ncclCommDestroy(void* communicator);
int ncclAllReduce(const void*, void*, std::size_t count, int type, int op, void* communicator, void* stream);
int ncclSend(const void*, std::size_t count, int type, int peer, void* communicator, void* stream);
int ncclRecv(void*, std::size_t count, int type, int peer, void* communicator, void* stream);
int ncclGroupStart();
int ncclGroupEnd();
}

// What the library answers to one call.
CALLER int one_call(void* stream) { return ncclAllReduce(nullptr, nullptr, 10, 7, 0, nullptr, stream); }

// A communicator that is made in a group within a group: it is there when the outer one ends.
CALLER int nested(int rank) {
  void* world = nullptr;
  UniqueId id{{1, 2, 3}};
  ncclGroupStart();
  ncclGroupStart();
  ncclCommInitRank(&world, 4, id, rank);
  ncclGroupEnd();
  if (world != nullptr || ncclGroupEnd() != 0 || world == nullptr) return 1;
  ncclAllReduce(nullptr, nullptr, 1000, 7, 0, world, nullptr);
  return ncclCommDestroy(world);
}

// A small training: two communicators, a group of a send and a receive, a split.
CALLER int train(int rank) {
  void *world = nullptr, *part = nullptr;
  UniqueId id{{1, 2, 3}};
  if (ncclCommInitRank(&world, 4, id, rank) != 0) return 1;
  for (int i = 0; i < 3; ++i) ncclAllReduce(nullptr, nullptr, 1000, 7, 0, world, reinterpret_cast<void*>(0x10));
  ncclGroupStart();
  ncclSend(nullptr, 5, 7, (rank + 1) % 4, world, nullptr);
  ncclRecv(nullptr, 5, 7, (rank + 3) % 4, world, nullptr);
  ncclGroupEnd();
  ncclCommSplit(world, rank % 2, rank, &part, nullptr);
  ncclAllReduce(nullptr, nullptr, 20, 9, 2, part, nullptr);
  return ncclCommDestroy(world);
}
