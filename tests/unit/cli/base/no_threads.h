// While it lives, no thread can be started, as where a limit of processes is reached: the stack that each would get is
// larger than the address space.
#pragma once
#include <pthread.h>

#include "tests/unit/catch.h"

class NoThreads {
 public:
  NoThreads() {
    REQUIRE(pthread_getattr_default_np(&usual_) == 0);
    pthread_attr_t huge;
    REQUIRE(pthread_getattr_default_np(&huge) == 0);
    REQUIRE(pthread_attr_setstacksize(&huge, std::size_t{1} << 47) == 0);
    REQUIRE(pthread_setattr_default_np(&huge) == 0);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&usual_);
    pthread_attr_destroy(&usual_);
  }

 private:
  pthread_attr_t usual_;
};
