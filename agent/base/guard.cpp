#include "agent/base/guard.h"

#include <sys/mman.h>

#include <atomic>

namespace agent {

namespace {
constexpr unsigned kAlive = 0x7ace;
std::atomic<std::atomic<unsigned>*> s_page{nullptr};
}  // namespace

bool install_fork_page() noexcept {
  if (s_page.load(std::memory_order_acquire) != nullptr) return true;
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  if (madvise(page, 4096, MADV_WIPEONFORK) != 0) {
    munmap(page, 4096);
    return false;
  }
  auto* word = static_cast<std::atomic<unsigned>*>(page);
  word->store(kAlive, std::memory_order_relaxed);
  s_page.store(word, std::memory_order_release);
  return true;
}

bool revive_fork_page() noexcept {
  auto* page = s_page.load(std::memory_order_acquire);
  if (page != nullptr) page->store(kAlive, std::memory_order_relaxed);
  return page != nullptr;
}

bool is_recorded_process() noexcept {
  const auto* page = s_page.load(std::memory_order_acquire);
  return page != nullptr && page->load(std::memory_order_relaxed) == kAlive;
}

}  // namespace agent
