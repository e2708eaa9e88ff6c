// A place in each thread for what is given back when the thread ends. A process has 1,024 of them for all its libraries:
// where none is left, pthread_setspecific() with a number of our own would write into another library's.
#pragma once
#include <pthread.h>

namespace agent {

class OwnKey {
 public:
  // Makes it at the first call. False: there is none, and none is tried for again. Under the owner's lock.
  bool make(void (*give_back)(void*)) noexcept {
    if (!asked_) have_ = pthread_key_create(&key_, give_back) == 0;
    asked_ = true;
    return have_;
  }
  // For the calling thread; make() must have been true.
  bool set(const void* value) noexcept { return pthread_setspecific(key_, value) == 0; }

 private:
  bool asked_ = false;
  bool have_ = false;
  pthread_key_t key_ = 0;
};

}  // namespace agent
