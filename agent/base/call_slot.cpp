#include "agent/base/call_slot.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "agent/base/loaded_objects.h"

namespace agent {
namespace {

#ifdef __x86_64__
constexpr unsigned kLazyCall = R_X86_64_JUMP_SLOT, kEagerCall = R_X86_64_GLOB_DAT;
#else
constexpr unsigned kLazyCall = R_AARCH64_JUMP_SLOT, kEagerCall = R_AARCH64_GLOB_DAT;
#endif

std::uintptr_t page_bytes() { return static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)); }

// The tables of an object's dynamic section.
struct DynamicTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela) * relocations[2] = {};  // for calls, for all others
  std::size_t bytes[2] = {};

  DynamicTables(const ElfW(Dyn) * dynamic, ElfW(Addr) base) {
    // The loader has made the addresses absolute.
    const auto at = [base](const ElfW(Dyn) & entry) {
      return reinterpret_cast<const void*>(entry.d_un.d_ptr < base ? entry.d_un.d_ptr + base : entry.d_un.d_ptr);
    };
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
      if (dynamic->d_tag == DT_SYMTAB) symbols = static_cast<const ElfW(Sym)*>(at(*dynamic));
      if (dynamic->d_tag == DT_STRTAB) strings = static_cast<const char*>(at(*dynamic));
      if (dynamic->d_tag == DT_JMPREL) relocations[0] = static_cast<const ElfW(Rela)*>(at(*dynamic));
      if (dynamic->d_tag == DT_PLTRELSZ) bytes[0] = dynamic->d_un.d_val;
      if (dynamic->d_tag == DT_RELA) relocations[1] = static_cast<const ElfW(Rela)*>(at(*dynamic));
      if (dynamic->d_tag == DT_RELASZ) bytes[1] = dynamic->d_un.d_val;
    }
  }

  // Returns null unless exactly one relocation is for calls of the function.
  const ElfW(Rela) * only(const char* function) const {
    const ElfW(Rela)* found = nullptr;
    if (symbols == nullptr || strings == nullptr) return nullptr;
    for (int table = 0; table < 2; ++table) {
      const ElfW(Rela)* const end = relocations[table] + bytes[table] / sizeof(ElfW(Rela));
      for (const ElfW(Rela)* each = relocations[table]; each != nullptr && each < end; ++each) {
        const auto type = ELF64_R_TYPE(each->r_info);
        if (type != kLazyCall && type != kEagerCall) continue;
        if (std::strcmp(strings + symbols[ELF64_R_SYM(each->r_info)].st_name, function) != 0) continue;
        if (found != nullptr) return nullptr;
        found = each;
      }
    }
    return found;
  }
};

}  // namespace

bool CallSlot::points_into_caller() const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(target());
  return at >= begin_ && at < end_;
}

bool CallSlot::set(const void* target) const noexcept {
  auto* const page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(slot_) & ~(page_bytes() - 1));
  if (is_read_only_ && mprotect(page, page_bytes(), PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot_, reinterpret_cast<std::uintptr_t>(target), __ATOMIC_RELEASE);
  if (is_read_only_) mprotect(page, page_bytes(), PROT_READ);
  return true;
}

bool find_call_slot(const char* path, const char* function, CallSlot& slot) noexcept {
  const bool is_found = any_object([&](const char* each, const dl_phdr_info& info) {
    if (std::strcmp(each, path) != 0) return false;
    const ElfW(Dyn)* dynamic = nullptr;
    std::uintptr_t protected_begin = 0, protected_end = 0;
    slot.begin_ = ~std::uintptr_t{0};
    slot.end_ = 0;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const auto& segment = info.dlpi_phdr[i];
      const std::uintptr_t begin = info.dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
      if (segment.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
      if (segment.p_type == PT_GNU_RELRO) {
        // The loader protects whole pages only.
        protected_begin = begin & ~(page_bytes() - 1);
        protected_end = end & ~(page_bytes() - 1);
      }
      if (segment.p_type != PT_LOAD) continue;
      slot.begin_ = begin < slot.begin_ ? begin : slot.begin_;
      slot.end_ = end > slot.end_ ? end : slot.end_;
    }
    const ElfW(Rela)* const relocation =
        dynamic != nullptr ? DynamicTables(dynamic, info.dlpi_addr).only(function) : nullptr;
    if (relocation == nullptr) return true;
    const std::uintptr_t at = info.dlpi_addr + relocation->r_offset;
    slot.slot_ = reinterpret_cast<std::uintptr_t*>(at);
    slot.is_read_only_ = at >= protected_begin && at < protected_end;
    return true;
  });
  LoadedObject target;
  return is_found && slot.slot_ != nullptr && object_of(slot.target(), target);
}

}  // namespace agent
