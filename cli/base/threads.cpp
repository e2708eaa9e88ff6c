#include "cli/base/threads.h"

#include <sched.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/base/large_pages.h"

namespace cli {

std::size_t usable_cores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof(cores), &cores) == 0)
    return static_cast<std::size_t>(std::max(CPU_COUNT(&cores), 1));
  // The machine has more cores than a cpu_set_t can represent
  return std::max(std::thread::hardware_concurrency(), 1u);
}

OrderedWork::OrderedWork(std::size_t items, std::size_t threads)
    : threads_(std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(items, 1))), worked_(items), failed_(items) {}

void OrderedWork::run(Steps steps) {
  steps_ = std::move(steps);
  std::vector<std::thread> others;
  others.reserve(threads_);
  try {
    while (others.size() + 1 < threads_)
      others.emplace_back([this] {
        use_large_pages_in_thread();
        loop();
      });
  } catch (const std::system_error&) {  // limit of processes: continue with fewer threads
  }
  loop();
  for (std::thread& other : others) other.join();
  if (failure_) std::rethrow_exception(failure_);
}

void OrderedWork::loop() {
  Lock lock(mutex_);
  while (true) {
    if (take_finish(lock) || take_work(lock)) continue;
    if (running_ == 0) break;  // no running thread can add more
    changed_.wait(lock);
  }
  changed_.notify_all();
}

bool OrderedWork::take_finish(Lock& lock) {
  if (to_finish_.empty()) return false;
  const std::size_t item = to_finish_.front();
  to_finish_.pop_front();
  step(lock, steps_.finish, item);
  return true;
}

bool OrderedWork::take_work(Lock& lock) {
  if (next_ >= failed_ || next_ >= joined_ + 2 * threads_) return false;
  const std::size_t item = next_++;
  worked_[item] = step(lock, steps_.work, item);
  join_ready(lock);
  return true;
}

void OrderedWork::join_ready(Lock& lock) {
  while (!joining_ && joined_ < failed_ && worked_[joined_]) {
    const std::size_t item = joined_;
    joining_ = true;
    const bool is_joined = step(lock, steps_.join, item);
    joining_ = false;
    if (!is_joined) return;
    ++joined_;
    if (steps_.finish) to_finish_.push_back(item);
    changed_.notify_all();
  }
}

// Called without the lock. Returns false if the item failed or was abandoned.
bool OrderedWork::step(Lock& lock, const Step& step, std::size_t item) {
  if (item > failed_) return false;
  ++running_;
  lock.unlock();
  std::exception_ptr failure;
  bool is_done = true;
  try {
    step(item);
  } catch (const GivenUp&) {
    is_done = false;
  } catch (...) {
    failure = std::current_exception();
    is_done = false;
  }
  lock.lock();
  --running_;
  if (failure && item < failed_) {
    failed_ = item;
    failure_ = failure;
  }
  changed_.notify_all();
  return is_done;
}

}  // namespace cli
