// While it lives, pthread_cancel(3) does not end the calling thread: files and messages are places where it would, in the
// middle of our locks. A thread that was cancelled ends at the program's next such place, as it would without us.
#pragma once
#include <pthread.h>

namespace agent {

class Uncancelled {
 public:
  Uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace agent
