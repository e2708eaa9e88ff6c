#include "agent/environment.h"

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace agent {
namespace {

char* make_entry(const char* name, const char* value) {
  const std::size_t bytes = std::strlen(name) + std::strlen(value) + 2;
  auto* entry = static_cast<char*>(std::malloc(bytes));
  if (entry != nullptr) snprintf(entry, bytes, "%s=%s", name, value);
  return entry;
}

bool names(const char* entry, const char* name) {
  const std::size_t length = std::strlen(name);
  return std::strncmp(entry, name, length) == 0 && entry[length] == '=';
}

// A table with one more, beside the old one.
char** make_table(char** old, std::size_t count, char* entry) {
  auto** table = static_cast<char**>(std::malloc((count + 2) * sizeof(*old)));
  if (table == nullptr) return nullptr;
  if (count > 0) std::memcpy(table, old, count * sizeof(*old));
  table[count] = entry;
  table[count + 1] = nullptr;
  return table;
}

}  // namespace

void set_variable(const char* name, const char* value) noexcept {
  char* entry = make_entry(name, value);
  if (entry == nullptr) return;
  char** old = environ;
  std::size_t count = 0;
  while (old != nullptr && old[count] != nullptr && !names(old[count], name)) ++count;
  if (old != nullptr && old[count] != nullptr) return __atomic_store_n(&old[count], entry, __ATOMIC_RELEASE);
  char** table = make_table(old, count, entry);
  if (table != nullptr) __atomic_store_n(&environ, table, __ATOMIC_RELEASE);
}

}  // namespace agent
