// threads together COUNT LAUNCHES: COUNT threads that launch at once, LAUNCHES each
//                                  and prints its memory at its most, in KiB
// threads asleep COUNT LAUNCHES:   COUNT threads that launch once and sleep while one launches LAUNCHES
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "gpu.h"

namespace {

using programs::Gpu;

// Lets all threads that wait go at once.
class Gate {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

void join(std::vector<std::thread>& threads) {
  for (std::thread& each : threads) each.join();
}

void together(const Gpu& gpu, int count, std::uint32_t launches) {
  Gate gate;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      gpu.use_here();
      gate.wait();
      gpu.launch_many(launches);
    });
  }
  gate.open();
  join(threads);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("%ld\n", used.ru_maxrss);
}

void asleep(const Gpu& gpu, int count, std::uint32_t launches) {
  Gate gate;
  std::atomic<int> launched{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      gpu.use_here();
      gpu.launch();
      ++launched;
      gate.wait();
    });
  }
  while (launched < count) programs::sleep_ms(1);
  gpu.launch_many(launches);
  gpu.wait();
  gate.open();
  join(threads);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 1;
  const Gpu gpu;
  const int count = std::atoi(argv[2]);
  const auto launches = static_cast<std::uint32_t>(std::atoi(argv[3]));
  std::strcmp(argv[1], "together") == 0 ? together(gpu, count, launches) : asleep(gpu, count, launches);
  gpu.wait();
  return 0;
}
