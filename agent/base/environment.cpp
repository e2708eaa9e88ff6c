#include "agent/base/environment.h"

#include <sys/single_threaded.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace agent {
namespace {

constexpr int kWalks = 8;  // of another thread changing the table meanwhile

constinit void** s_kept = nullptr;  // all that we ever made, one from the other, so that no checker takes it for lost

void* make(std::size_t bytes) {
  auto** made = static_cast<void**>(std::malloc(sizeof(void*) + bytes));
  if (made == nullptr) return nullptr;
  *made = s_kept;
  s_kept = made;
  return made + 1;
}

char* make_entry(const char* name, const char* value) {
  const std::size_t bytes = std::strlen(name) + std::strlen(value) + 2;
  auto* entry = static_cast<char*>(make(bytes));
  if (entry != nullptr) snprintf(entry, bytes, "%s=%s", name, value);
  return entry;
}

// As it stands in the table; null: the variable is not set.
const char* find_entry(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? nullptr : value - std::strlen(name) - 1;
}

// A copy of the table `old` with `entry` in place of `replaced`, or at its end. Null: `old` changed meanwhile. Nothing
// in it is looked into: it may have been given back.
char** make_table(char* const* old, const char* replaced, char* entry) {
  std::size_t count = 0;
  while (old[count] != nullptr) ++count;
  auto** table = static_cast<char**>(make((count + 2) * sizeof(*old)));
  if (table == nullptr) return nullptr;
  bool placed = false;
  for (std::size_t i = 0; i < count; ++i) {
    table[i] = old[i];
    if (table[i] == nullptr) return nullptr;
    if (table[i] != replaced) continue;
    table[i] = entry;
    placed = true;
  }
  table[count] = placed ? nullptr : entry;
  table[count + 1] = nullptr;
  return old[count] == nullptr ? table : nullptr;
}

// libc's own name for it: a program may have an `environ` that is another variable.
bool publish(const char* name, char* entry) {
  static constinit char* s_none[] = {nullptr};
  char** old = __atomic_load_n(&__environ, __ATOMIC_ACQUIRE);
  char** table = make_table(old != nullptr ? old : s_none, find_entry(name), entry);
  return table != nullptr &&
         __atomic_compare_exchange_n(&__environ, &old, table, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

}  // namespace

void set_variable(const char* name, const char* value) noexcept {
  if (__libc_single_threaded) {
    setenv(name, value, 1);
    return;
  }
  char* entry = make_entry(name, value);
  for (int tries = 0; entry != nullptr && tries < kWalks; ++tries) {
    if (publish(name, entry)) return;
  }
}

}  // namespace agent
