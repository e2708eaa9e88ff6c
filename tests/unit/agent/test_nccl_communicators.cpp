#include "agent/hooks/nccl_communicators.h"
#include "tests/unit/catch.h"

using namespace agent;

TEST_CASE("the name of a communicator is NCCL's hash of its id") {
  CHECK(hash_unique_id("", 0) == 5381);
  CHECK(hash_unique_id("a", 1) == (5381u * 33 ^ 'a'));
  const char negative[] = {static_cast<char>(0x80)};  // NCCL reads signed characters
  CHECK(hash_unique_id(negative, 1) == (5381u * 33 ^ 0xffffffffffffff80u));
}

TEST_CASE("communicators are known by their handle until it is another's") {
  int handles[3];
  CHECK(named_communicator(handles).name == 0);
  name_communicator(handles, {77, 3});
  CHECK((named_communicator(handles).name == 77 && named_communicator(handles).rank == 3));
  CHECK(count_split(handles) == 1);
  CHECK(count_split(handles) == 2);
  name_communicator(handles, {78, 0});
  CHECK(named_communicator(handles).name == 78);
  CHECK(count_split(handles) == 1);
  name_communicator(handles, {});
  CHECK(named_communicator(handles).name == 0);
  name_communicator(nullptr, {1, 1});
  CHECK(named_communicator(nullptr).name == 0);
}

TEST_CASE("splits differ by parent, turn and color, and agree between ranks") {
  CHECK(hash_split(5, 1, 0) == hash_split(5, 1, 0));
  CHECK(hash_split(5, 1, 0) != hash_split(5, 1, 1));
  CHECK(hash_split(5, 1, 0) != hash_split(5, 2, 0));
  CHECK(hash_split(5, 1, 0) != hash_split(6, 1, 0));
}
