// A second thread that launches, as autograd's does: run() hands it the work and waits until it is launched.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace sim {

class BackwardThread {
 public:
  BackwardThread(std::function<void()> begin, std::function<void()> work);
  ~BackwardThread();
  BackwardThread(const BackwardThread&) = delete;
  BackwardThread& operator=(const BackwardThread&) = delete;

  void run();

 private:
  void loop();
  std::function<void()> begin_, work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = false, ending_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace sim
