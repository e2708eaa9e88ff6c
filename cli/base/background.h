// A second thread for work that can be handed over: done in order, one piece at a time, so that the memory in flight stays
// one piece. Where the system gives no thread (a limit of processes), the caller does the work.
#pragma once
#include <chrono>
#include <functional>
#include <future>

namespace cli {

class Background {
 public:
  // Waits for the piece before. Rethrows what an earlier piece threw; after that nothing more is done.
  void run(const std::function<void()>& work) {  // a copy is kept: libstdc++ gives a moved one to the thread that fails
    wait();
    last_ = std::async(std::launch::async | std::launch::deferred, work).share();
    if (last_.wait_for(std::chrono::seconds(0)) == std::future_status::deferred) wait();
  }
  // Until all is done. Rethrows what a piece threw.
  void wait() {
    if (last_.valid()) last_.get();
  }

 private:
  std::shared_future<void> last_;  // its destructor waits
};

}  // namespace cli
