// The inputs of operators, read from objects that lie where the reader believes them to, and from such as lie nowhere.
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "agent/torch/operator_inputs.h"
#include "tests/unit/catch.h"

using namespace agent;

namespace {

constexpr std::size_t kSizes = 64;  // of PyTorch 2.3 to 2.12

std::uint64_t at(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

// A tensor of two dimensions in `room`.
TorchValue tensor(std::vector<std::uint64_t>& room, std::uint64_t rows, std::uint64_t columns) {
  room.assign(24, 0);
  std::uint64_t* sizes = room.data() + kSizes / 8;
  sizes[0] = 2, sizes[1] = rows, sizes[2] = columns, sizes[6] = columns, sizes[7] = 1;
  sizes[12] = rows * columns;
  sizes[13] = 6;
  return {at(room.data()), 1, 0};
}

std::size_t inputs_in(const TorchValue* values, std::size_t count) {
  return OperatorInputs(values, count).bytes().size();
}

}  // namespace

// At the end, since what is refused once stays refused in a process.
TEST_CASE("inputs are read while they are there, looked at or not, and refused for good when one is not") {
  auto* nowhere = static_cast<std::byte*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::vector<std::uint64_t> room, list;
  const TorchValue integer{7, 5, 0}, some = tensor(room, 3, 5);
  for (int i = 0; i < 10'000; ++i) {
    const TorchValue values[] = {some, integer};
    REQUIRE(inputs_in(values, 2) == 5 * sizeof(std::uint64_t));
  }
  CHECK(!inputs_are_refused());
  const TorchValue yes{1, 10, 0};
  CHECK(inputs_in(&yes, 1) == 8);
  const TorchValue values[] = {integer, {at(nowhere), 14, 0}};
  CHECK(inputs_in(values, 2) == 0);
  CHECK(inputs_are_refused());
  munmap(nowhere, 4096);
}
