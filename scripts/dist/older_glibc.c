// What GCC's static libraries of Debian 12 call that glibc 2.34 does not have: linked as they are, tracetool would not start
// there. These are found before glibc's and stay hidden inside the program. A new one shows in test_dist.py.
//   _dl_find_object  2.35, by the unwinder in libgcc_eh.a. Here by dl_iterate_phdr: slower, which only a thrown error pays
//   arc4random       2.36, by std::random_device, which libstdc++.a brings along
#define _GNU_SOURCE
#include <dlfcn.h>
#include <features.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __GLIBC_PREREQ(2, 35)

struct search {
  ElfW(Addr) pc;
  struct dl_find_object* result;
};

// The unwinder reads l_addr and nothing else.
static __thread struct link_map t_map;

static int is_in(const struct dl_phdr_info* info, const ElfW(Phdr) * part, ElfW(Addr) pc) {
  const ElfW(Addr) begin = info->dlpi_addr + part->p_vaddr;
  return part->p_type == PT_LOAD && begin <= pc && pc - begin < part->p_memsz;
}

static int look(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct search* search = data;
  const ElfW(Phdr) *holder = NULL, *frames = NULL;
  for (const ElfW(Phdr)* part = info->dlpi_phdr; part != info->dlpi_phdr + info->dlpi_phnum; ++part) {
    if (is_in(info, part, search->pc)) holder = part;
    if (part->p_type == PT_GNU_EH_FRAME) frames = part;
  }
  if (holder == NULL || frames == NULL) return 0;
  t_map.l_addr = info->dlpi_addr;
  search->result->dlfo_map_start = (void*)(info->dlpi_addr + holder->p_vaddr);
  search->result->dlfo_map_end = (void*)(info->dlpi_addr + holder->p_vaddr + holder->p_memsz);
  search->result->dlfo_link_map = &t_map;
  search->result->dlfo_eh_frame = (void*)(info->dlpi_addr + frames->p_vaddr);
  return 1;
}

__attribute__((visibility("hidden"))) int _dl_find_object(void* pc, struct dl_find_object* result) {
  memset(result, 0, sizeof *result);
  struct search search = {(ElfW(Addr))pc, result};
  return dl_iterate_phdr(look, &search) ? 0 : -1;
}

#endif

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t value;
  if (getentropy(&value, sizeof value) != 0) abort();
  return value;
}
