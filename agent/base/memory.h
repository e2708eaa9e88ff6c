// Memory from the kernel, and pools of objects in it, one for each thread.
#pragma once
#include <pthread.h>
#include <sys/mman.h>

#include <cstddef>
#include <new>

#include "agent/base/guard.h"
#include "agent/base/lock.h"

namespace agent {

// Returns zeroed memory, or null if there is none.
template <typename T>
T* map_zeroed(std::size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED ? static_cast<T*>(memory) : nullptr;
}

// Objects that threads take once and that return to the pool when their thread ends; they are never freed. T has a
// member `next`. Its members without initial value are zero at first.
template <typename T, std::size_t kChunkBytes>
class ThreadPool {
 public:
  // Returns an object for the calling thread; null if no memory or no thread-specific key is available. At the end of
  // the thread, `at_end` gets the object.
  T* take(void (*at_end)(void*)) noexcept {
    T* taken = take_free(at_end);
    if (taken != nullptr) pthread_setspecific(key_, taken);
    return taken;
  }
  void give_back(T* object) noexcept {
    if (!is_recorded_process()) return;
    const Locked locked(lock_);
    push(object);
  }
  // Called in a forked child that begins again: a thread of the parent may have held the lock.
  void release_lock() noexcept { lock_.unlock(); }

 private:
  T* take_free(void (*at_end)(void*)) noexcept {
    const Locked locked(lock_);
    // A process has 1,024 keys for all libraries. If none is left, pthread_setspecific() with an invalid key would
    // overwrite another library's data. Creation is not tried again.
    if (!asked_for_key_) has_key_ = pthread_key_create(&key_, at_end) == 0;
    asked_for_key_ = true;
    if (!has_key_) return nullptr;
    if (free_ == nullptr) add_chunk();
    T* taken = free_;
    if (taken != nullptr) free_ = taken->next;
    return taken;
  }
  void add_chunk() noexcept {
    auto* objects = map_zeroed<T>(kChunkBytes);
    for (std::size_t i = 0; objects != nullptr && i < kChunkBytes / sizeof(T); ++i) push(new (objects + i) T);
  }
  void push(T* object) noexcept {
    object->next = free_;
    free_ = object;
  }

  Spinlock lock_;
  T* free_ = nullptr;
  bool asked_for_key_ = false, has_key_ = false;
  pthread_key_t key_ = 0;
};

}  // namespace agent
