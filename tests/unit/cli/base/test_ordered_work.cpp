#include <atomic>
#include <chrono>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cli/base/threads.h"
#include "no_threads.h"
#include "tests/unit/catch.h"

using cli::OrderedWork;

namespace {

void take_time(std::size_t item) { std::this_thread::sleep_for(std::chrono::microseconds(item * 7919 % 300)); }

}  // namespace

TEST_CASE("ordered work: joins in order, each after its work and before its finish, one at a time") {
  for (const std::size_t threads : {1, 2, 8}) {
    constexpr std::size_t kItems = 100;
    std::vector<std::size_t> joined;
    std::vector<int> state(kItems);
    std::atomic<int> joining{0}, unordered{0}, far{0};
    std::atomic<std::size_t> joins{0};
    OrderedWork work(kItems, threads);
    CHECK(work.threads() == threads);
    work.run({[&](std::size_t i) {
                far += i >= joins + 2 * threads;
                take_time(i);
                unordered += state[i]++ != 0;
              },
              [&](std::size_t i) {
                unordered += joining++ != 0;
                unordered += state[i]++ != 1;
                joined.push_back(i);
                ++joins;
                --joining;
              },
              [&](std::size_t i) {
                take_time(i + 3);
                unordered += state[i]++ != 2;
              }});
    CHECK(unordered == 0);
    CHECK(far == 0);
    REQUIRE(joined.size() == kItems);
    for (std::size_t i = 0; i < kItems; ++i) {
      CHECK(joined[i] == i);
      CHECK(state[i] == 3);
    }
  }
}

TEST_CASE("ordered work: the first item in order that fails is told; those before it are done, those behind given up") {
  for (const std::size_t threads : {1, 2, 8}) {
    for (const char step : {'w', 'j', 'f'}) {
      std::atomic<int> finished_before{0}, finished_behind{0};
      OrderedWork work(30, threads);
      const auto fail = [&](std::size_t i, char where) {
        if ((i == 9 && where == step) || (i == 11 && where == 'w'))
          throw std::runtime_error("item " + std::to_string(i));
      };
      const auto run = [&] {
        work.run({[&](std::size_t i) {
                    take_time(i == 9 ? 37 : 1);
                    fail(i, 'w');
                    for (int look = 0; look < 100 && i > 20; ++look) work.leave_if_given_up(i);
                  },
                  [&](std::size_t i) { fail(i, 'j'); },
                  [&](std::size_t i) {
                    fail(i, 'f');
                    take_time(i);
                    (i < 9 ? finished_before : finished_behind) += 1;
                  }});
      };
      CHECK_THROWS_WITH(run(), contains_text("item 9"));
      CHECK(finished_before == 9);
      CHECK(finished_behind <= (step == 'f' ? 1 : 0));
    }
  }
}

TEST_CASE("ordered work: none, and fewer than threads") {
  int done = 0;
  OrderedWork(0, 4).run({[&](std::size_t) { ++done; }, [&](std::size_t) { ++done; }});
  CHECK(done == 0);
  OrderedWork one(1, 4);
  CHECK(one.threads() == 1);
  one.run({[&](std::size_t) { ++done; }, [&](std::size_t) { ++done; }});
  CHECK(done == 2);
  CHECK(cli::usable_cores() >= 1);
}

TEST_CASE("ordered work: on fewer threads where the system gives no more") {
  const NoThreads none;
  std::size_t done = 0;
  OrderedWork(9, 4).run({[&](std::size_t) { ++done; }, [&](std::size_t i) { done += 10 * i; }});
  CHECK(done == 369);
}
