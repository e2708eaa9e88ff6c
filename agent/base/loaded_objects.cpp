#include "agent/base/loaded_objects.h"

#include <dlfcn.h>

#include <cstring>

namespace agent {
namespace {

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

struct Search {
  const char* name;
  ObjectPaths* found;
};

int add_if_named(dl_phdr_info* info, size_t, void* data) {
  const auto& search = *static_cast<const Search*>(data);
  const char* path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  if (std::strncmp(file_name(path), search.name, std::strlen(search.name)) == 0) add(*search.found, path);
  return 0;
}

int add_if_needing(dl_phdr_info* info, size_t, void* data) {
  const auto& search = *static_cast<const Search*>(data);
  if (info->dlpi_name != nullptr && needs(*info, search.name)) add(*search.found, info->dlpi_name);
  return 0;
}

struct Bounds {
  std::uintptr_t address, begin, end;
};

int find_segment(dl_phdr_info* info, size_t, void* data) {
  auto& bounds = *static_cast<Bounds*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || bounds.address < begin || bounds.address >= begin + segment.p_memsz) continue;
    bounds.begin = begin;
    bounds.end = begin + segment.p_memsz;
    return 1;
  }
  return 0;
}

}  // namespace

bool object_of(const void* address, LoadedObject& object) noexcept {
  Bounds bounds{reinterpret_cast<std::uintptr_t>(address), 0, 0};
  Dl_info info;
  void* map = nullptr;
  if (dl_iterate_phdr(find_segment, &bounds) == 0) return false;
  if (dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0 || map == nullptr) return false;
  object = {static_cast<link_map*>(map), bounds.begin, bounds.end};
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
  Search search{prefix, &found};
  dl_iterate_phdr(add_if_named, &search);
}

void objects_needing(const link_map* map, ObjectPaths& found) noexcept {
  Search search{own_name(map), &found};
  dl_iterate_phdr(add_if_needing, &search);
}

}  // namespace agent
