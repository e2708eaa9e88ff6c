// Runs work on other threads: one piece after another, or on several threads with an ordered step.
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

// A second thread that does one piece of work at a time, in order, so that the memory in flight is that of one piece.
// If the system creates no thread (limit of processes), the caller does the work.
class Background {
 public:
  // Waits for the previous piece. Rethrows the exception of an earlier piece; after that no more work is done. `work`
  // is copied, because libstdc++ moves an rvalue into the thread before it fails to start.
  void run(const std::function<void()>& work) {
    wait();
    last_ = std::async(std::launch::async | std::launch::deferred, work).share();
    if (last_.wait_for(std::chrono::seconds(0)) == std::future_status::deferred) wait();
  }
  // Waits until all work is done. Rethrows the exception of a piece.
  void wait() {
    if (last_.valid()) last_.get();
  }

 private:
  std::shared_future<void> last_;  // its destructor waits
};

// Processes numbered items on several threads, with one step in item order, so that the result does not depend on the
// number of threads.
//
//   work(item)    several items at once, begun in order
//   join(item)    one item at a time, in order, each after its work
//   finish(item)  several items at once, begun in order, each after its join
//
// At most twice as many items as threads are between the first unjoined and the last begun item.

// Returns the number of cores that this process may use; at least 1.
std::size_t usable_cores();

class OrderedWork {
 public:
  using Step = std::function<void(std::size_t item)>;
  struct Steps {
    Step work, join, finish = {};  // without `finish`, an item is done after its join
  };

  // The calling thread is one of the `threads`. There are fewer if the system cannot create them.
  OrderedWork(std::size_t items, std::size_t threads);
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;

  // Call it once. Throws the exception of the first failed item in order. Later items are abandoned then, earlier ones
  // are completed.
  void run(Steps steps);

  std::size_t threads() const { return threads_; }
  // Long steps should call this often: it leaves the step if an earlier item has failed. Any thread may call it.
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
  std::atomic<std::size_t> failed_;  // the first item that failed; items_ if none
  std::exception_ptr failure_;
};

}  // namespace cli
