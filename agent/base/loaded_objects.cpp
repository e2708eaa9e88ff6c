#include "agent/base/loaded_objects.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace agent {
namespace {

constexpr std::uintptr_t kPage = 4096;  // the smallest page size

// Pages that were readable, two for each hash, so that the few pages of a loop do not push each other out. Page 0 is never readable.
constexpr std::size_t kPages = 4096;
constinit std::atomic<std::uintptr_t> s_readable_pages[kPages][2]{};

// The kernel reads the mask before it rejects the unknown operation with EINVAL. process_vm_readv(2) is not used because containers refuse it
// and sandboxes may kill the caller; rt_sigprocmask(2) is allowed everywhere.
bool is_readable_word(std::uintptr_t at) {
  constexpr int kNothing = -1;
  return syscall(SYS_rt_sigprocmask, kNothing, at, nullptr, sizeof(std::uint64_t)) < 0 && errno == EINVAL;
}

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

void add(ObjectPaths& found, const char* path) {
  if (found.count < ObjectPaths::kMost) found.paths[found.count++] = path;
}

// The loader has made the string table's address absolute, except in the kernel's own object.
const char* string_table(const ElfW(Dyn) * dynamic, ElfW(Addr) base) {
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag != DT_STRTAB) continue;
    const ElfW(Addr) address = dynamic->d_un.d_ptr;
    return reinterpret_cast<const char*>(address < base ? address + base : address);
  }
  return nullptr;
}

const char* own_name(const link_map* map) {
  const char* strings = string_table(map->l_ld, map->l_addr);
  for (const ElfW(Dyn)* entry = map->l_ld; strings != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SONAME) return strings + entry->d_un.d_val;
  }
  return file_name(map->l_name);
}

bool needs(const dl_phdr_info& info, const char* name) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + segment.p_vaddr);
  }
  const char* strings = dynamic != nullptr ? string_table(dynamic, info.dlpi_addr) : nullptr;
  for (; strings != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_NEEDED && std::strcmp(file_name(strings + dynamic->d_un.d_val), name) == 0) return true;
  }
  return false;
}

}  // namespace

bool is_readable(const void* at, std::size_t bytes) noexcept {
  const int error = errno;
  const auto first = reinterpret_cast<std::uintptr_t>(at) & ~std::uintptr_t{7};
  std::uintptr_t last = 0;
  bool readable = !__builtin_add_overflow(reinterpret_cast<std::uintptr_t>(at), bytes, &last);
  for (std::uintptr_t word = first; readable && word < last; word = (word & ~(kPage - 1)) + kPage)
    readable = is_readable_word(word);
  errno = error;
  return readable;
}

bool was_readable(const void* at, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  std::uintptr_t end = 0;
  if (begin < kPage || __builtin_add_overflow(begin, bytes, &end)) return false;
  for (std::uintptr_t page = begin / kPage; page * kPage < end; ++page) {
    auto& known = s_readable_pages[page % kPages];
    const std::uintptr_t newest = known[0].load(std::memory_order_relaxed);
    if (newest == page || known[1].load(std::memory_order_relaxed) == page) continue;
    if (!is_readable(reinterpret_cast<const void*>(std::max(begin, page * kPage)), 1)) return false;
    known[1].store(newest, std::memory_order_relaxed);
    known[0].store(page, std::memory_order_relaxed);
  }
  return true;
}

std::string_view readable_text(const char* text, std::size_t most) noexcept {
  std::size_t length = 0;
  while (length < most && was_readable(text + length, 1)) {
    const std::size_t left = kPage - reinterpret_cast<std::uintptr_t>(text + length) % kPage;
    const std::size_t bytes = std::min(left, most - length);
    if (const void* end = std::memchr(text + length, '\0', bytes))
      return {text, static_cast<std::size_t>(static_cast<const char*>(end) - text)};
    length += bytes;
  }
  return {text, length};
}

bool object_of(const void* address, LoadedObject& object) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const bool is_found = any_object([&](const char*, const dl_phdr_info& info) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const auto& segment = info.dlpi_phdr[i];
      object.begin = info.dlpi_addr + segment.p_vaddr;
      object.end = object.begin + segment.p_memsz;
      if (segment.p_type == PT_LOAD && at >= object.begin && at < object.end) return true;
    }
    return false;
  });
  Dl_info info;
  void* map = nullptr;
  if (!is_found || dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0 || map == nullptr) return false;
  object.map = static_cast<link_map*>(map);
  return true;
}

void* handle_of(const char* path) noexcept {
  const bool is_program = path == nullptr || path[0] == '\0';
  void* handle = is_program ? dlopen(nullptr, RTLD_LAZY) : dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (handle == nullptr) dlerror();
  return handle;
}

void* symbol_in(void* handle, const char* name) noexcept {
  void* symbol = dlsym(handle, name);
  if (symbol == nullptr) dlerror();
  return symbol;
}

void objects_named(const char* prefix, ObjectPaths& found) noexcept {
  any_object([&](const char* path, const dl_phdr_info&) {
    if (std::strncmp(file_name(path), prefix, std::strlen(prefix)) == 0) add(found, path);
    return false;
  });
}

void objects_needing(const link_map* map, ObjectPaths& found) noexcept {
  any_object([&, name = own_name(map)](const char* path, const dl_phdr_info& info) {
    if (needs(info, name)) add(found, path);
    return false;
  });
}

}  // namespace agent
