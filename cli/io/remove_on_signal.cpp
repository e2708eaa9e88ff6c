#include "cli/io/remove_on_signal.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstring>

namespace cli {
namespace {

// A handler may only touch what needs no allocation and no lock: so fixed slots, published by `used`.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<bool> used{false};
  char path[PATH_MAX] = {};
};
Slot slots[1100];  // an export in a thousand parts finishes all before it renames them
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void remove_and_die(int signal_number) {
  for (Slot& slot : slots) {
    if (slot.used.load(std::memory_order_acquire)) ::unlink(slot.path);
  }
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

void install_handlers() {
  for (int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old_action {};
    ::sigaction(signal_number, nullptr, &old_action);
    if (old_action.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = remove_and_die;
    ::sigfillset(&action.sa_mask);
    ::sigaction(signal_number, &action, nullptr);
  }
}

}  // namespace

int remove_on_signal(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  install_handlers();
  for (int index = 0; index < static_cast<int>(std::size(slots)); ++index) {
    Slot& slot = slots[index];
    if (slot.taken.exchange(true)) continue;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.used.store(true, std::memory_order_release);
    return index;
  }
  return -1;
}

void keep_on_signal(int slot) {
  if (slot < 0) return;
  slots[slot].used.store(false);
  slots[slot].taken.store(false);
}

}  // namespace cli
