#include "backward_thread.h"

#include <utility>

#include "nvtx.h"

namespace sim {

BackwardThread::BackwardThread(std::function<void()> begin, std::function<void()> work)
    : begin_(std::move(begin)), work_(std::move(work)), thread_([this] { loop(); }) {}

BackwardThread::~BackwardThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackwardThread::run() {
  std::unique_lock lock(mutex_);
  wanted_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !wanted_; });
}

void BackwardThread::loop() {
  name_thread("pt_autograd_0");
  begin_();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return wanted_ || ending_; });
    if (ending_) return;
    lock.unlock();
    work_();
    lock.lock();
    wanted_ = false;
    changed_.notify_all();
  }
}

}  // namespace sim
