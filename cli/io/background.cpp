#include "cli/io/background.h"

#include <utility>

namespace cli {

Background::Background() : thread_([this] { loop(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Background::run(std::function<void()> work) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !waiting_; });
  rethrow();
  waiting_ = std::move(work);
  changed_.notify_all();
}

void Background::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !waiting_ && !busy_; });
  rethrow();
}

void Background::rethrow() {
  if (failure_) std::rethrow_exception(failure_);
}

void Background::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return waiting_ || stop_; });
    if (stop_) return;
    const std::function<void()> work = std::exchange(waiting_, nullptr);
    busy_ = true;
    changed_.notify_all();
    lock.unlock();
    std::exception_ptr failure;
    try {
      if (!failure_) work();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) failure_ = failure;
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace cli
