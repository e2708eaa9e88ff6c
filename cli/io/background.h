// A second thread for work that can be handed over: done in order, one piece waiting at most, so that the memory in
// flight stays two pieces.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace cli {

class Background {
 public:
  Background();
  ~Background();  // what waits is dropped, what runs is waited for
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Blocks while another piece waits. Rethrows what an earlier piece threw; after that nothing more is done.
  void run(std::function<void()> work);
  // Until all is done. Rethrows what a piece threw.
  void wait();

 private:
  void loop();
  void rethrow();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> waiting_;
  std::exception_ptr failure_;
  bool busy_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace cli
