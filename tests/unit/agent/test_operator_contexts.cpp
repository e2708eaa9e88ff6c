#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "agent/torch/operators.h"
#include "tests/unit/catch.h"

using namespace agent;

namespace {

// PyTorch does it this way: the second function of the object's table deletes it.
void delete_as_torch(const void* context) {
  using Function = void (*)(const void*);
  (*static_cast<const Function* const*>(context))[1](context);
}

}  // namespace

TEST_CASE("contexts of operators that are open at once differ; freed ones are used again") {
  std::set<std::uint32_t> numbers;
  std::vector<const void*> open;
  for (int i = 0; i < 40'000; ++i) {
    open.push_back(new_operator_context(3));
    REQUIRE(open.back() != nullptr);
    REQUIRE(numbers.insert(number_of_context(open.back())).second);
  }
  for (const void* context : open) delete_as_torch(context);
  for (int i = 0; i < 40'000; ++i) open[static_cast<std::size_t>(i)] = new_operator_context(3);
  for (const void* context : open) CHECK(numbers.count(number_of_context(context)) == 1);
  for (const void* context : open) free_operator_context(context);
}

TEST_CASE("contexts: none is given where too many are open") {
  std::vector<const void*> open;
  const void* context = nullptr;
  while ((context = new_operator_context(0)) != nullptr && open.size() < 1'000'000) open.push_back(context);
  CHECK(context == nullptr);
  for (const void* each : open) delete_as_torch(each);
  context = new_operator_context(0);
  CHECK(context != nullptr);
  free_operator_context(context);
}

TEST_CASE("contexts: threads that begin, and end what others began") {
  constexpr std::size_t kSlots = 64;
  std::atomic<const void*> slots[kSlots]{};
  std::atomic<bool> owned[1 << 18]{};
  std::atomic<std::size_t> twice{0};
  std::vector<std::thread> threads;
  const auto end = [&](const void* context) {
    owned[number_of_context(context)] = false;
    delete_as_torch(context);
  };
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::size_t i = 0; i < 100'000; ++i) {
        const void* context = new_operator_context(thread % 2);
        twice += owned[number_of_context(context)].exchange(true);
        context = slots[(i * 13 + thread) % kSlots].exchange(context);
        if (context != nullptr) end(context);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& slot : slots) {
    if (slot != nullptr) end(slot);
  }
  CHECK(twice == 0);
}
