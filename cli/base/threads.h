// Work on other threads: in order one by one, or on several threads with a step done in order.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <vector>

namespace cli {

// A second thread for work that can be handed over: done in order, one piece at a time, so that the memory in flight stays
// one piece. Where the system gives no thread (a limit of processes), the caller does the work.
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

// Numbered items of work on several threads, with a step that is done in their order, so that what comes out does not depend
// on how many threads there are.
//
//   work(item)    several items at once, begun in their order
//   join(item)    one item at a time, in their order, each after its work
//   finish(item)  several items at once, begun in their order, each after its join
//
// Items between the first one that is not joined and the last one that was begun are few: twice the threads.

// Cores that this process may use; at least 1.
std::size_t usable_cores();

class OrderedWork {
 public:
  using Step = std::function<void(std::size_t item)>;
  struct Steps {
    Step work, join, finish = {};  // no finish: nothing is left to do
  };

  // The calling thread is one of the `threads`, of which there are fewer where the system gives no more.
  OrderedWork(std::size_t items, std::size_t threads);
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;

  // Once. Throws what the first item in order threw that failed; later items are given up then, earlier ones are not.
  void run(Steps steps);

  std::size_t threads() const { return threads_; }
  // For steps that take long, to call often: leaves the step when an earlier item has failed. Any thread.
  void leave_if_given_up(std::size_t item) const {
    if (item > failed_.load(std::memory_order_relaxed)) throw GivenUp();
  }

 private:
  struct GivenUp {};
  using Lock = std::unique_lock<std::mutex>;

  void loop();
  bool take_finish(Lock& lock);
  bool take_work(Lock& lock);
  void join_ready(Lock& lock);
  bool step(Lock& lock, const Step& step, std::size_t item);

  const std::size_t threads_;
  Steps steps_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0, joined_ = 0, running_ = 0;
  bool joining_ = false;
  std::vector<bool> worked_;
  std::deque<std::size_t> to_finish_;
  std::atomic<std::size_t> failed_;  // the first item that failed; items_: none
  std::exception_ptr failure_;
};

}  // namespace cli
