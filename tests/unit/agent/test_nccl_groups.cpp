#include <sys/mman.h>

#include <thread>

#include "agent/hooks/nccl_communicators.h"
#include "tests/unit/catch.h"

using namespace agent;

namespace {

std::uint64_t name_of(const void* communicator) { return named_communicator(communicator).name; }

}  // namespace

TEST_CASE("what is made in a group is named at the end of the outermost one") {
  static int communicator = 0;  // an address that no other test has
  void* handle = nullptr;
  nccl_group_begins();
  nccl_group_begins();
  name_at_group_end(&handle, {21, 3});
  nccl_group_ends(true);
  CHECK(name_of(&communicator) == 0);
  handle = &communicator;
  nccl_group_ends(true);
  CHECK(name_of(&communicator) == 21);
  CHECK(named_communicator(&communicator).rank == 3);
}

TEST_CASE("a group that failed, and no group at all, name nothing") {
  static int communicator = 0;  // an address that no other test has
  void* handle = &communicator;
  nccl_group_begins();
  name_at_group_end(&handle, {22, 0});
  nccl_group_ends(false);
  nccl_group_ends(true);
  name_at_group_end(&handle, {22, 0});
  nccl_group_begins();
  nccl_group_ends(true);
  CHECK(name_of(&communicator) == 0);
}

TEST_CASE("handles of a thread that ended within a group are never read") {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  std::thread([page] {
    nccl_group_begins();
    name_at_group_end(static_cast<void**>(page), {23, 0});
  }).join();
  munmap(page, 4096);
  static int communicator = 0;  // an address that no other test has
  void* handle = &communicator;
  std::thread([&handle] {
    nccl_group_ends(true);
    nccl_group_begins();
    name_at_group_end(&handle, {24, 0});
    nccl_group_ends(true);
  }).join();
  CHECK(name_of(&communicator) == 24);
}

TEST_CASE("more than there is room for are left without a name, in this group only") {
  int communicators[2];
  void* handles[] = {&communicators[0], &communicators[1]};
  nccl_group_begins();
  for (int i = 0; i < 64; ++i) name_at_group_end(&handles[0], {25, 0});
  name_at_group_end(&handles[1], {26, 0});
  nccl_group_ends(true);
  CHECK(name_of(handles[0]) == 25);
  CHECK(name_of(handles[1]) == 0);
  nccl_group_begins();
  name_at_group_end(&handles[1], {26, 0});
  nccl_group_ends(true);
  CHECK(name_of(handles[1]) == 26);
}
