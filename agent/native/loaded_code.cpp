#include "agent/native/loaded_code.h"

#include <link.h>

#include <algorithm>
#include <cstring>

namespace agent {
namespace {

// The first call of many tells what is asked.
int read_counts(dl_phdr_info* info, std::size_t, void* counts) {
  *static_cast<LoaderCounts*>(counts) = {info->dlpi_adds, info->dlpi_subs};
  return 1;
}

std::size_t padded_note(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

void find_build_id(const std::byte* at, std::size_t bytes, LoadedCode& code) {
  ElfW(Nhdr) head;
  while (bytes >= sizeof(head)) {
    std::memcpy(&head, at, sizeof(head));
    const std::size_t name_at = sizeof(head), text_at = name_at + padded_note(head.n_namesz);
    const std::size_t size = text_at + padded_note(head.n_descsz);
    if (size > bytes) return;
    const bool is_id = head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(at + name_at, "GNU", 4) == 0;
    if (is_id && head.n_descsz <= sizeof(code.build_id)) {
      code.build_id_bytes = static_cast<std::uint8_t>(head.n_descsz);
      std::memcpy(code.build_id, at + text_at, head.n_descsz);
      return;
    }
    at += size;
    bytes -= size;
  }
}

void read_segments(const dl_phdr_info& info, LoadedCode& code) {
  code.begin = UINTPTR_MAX;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
    code.begin = std::min(code.begin, begin);
    code.end = std::max(code.end, begin + segment.p_memsz);
  }
}

// What lies outside of its segments is not in memory.
void read_notes(const dl_phdr_info& info, LoadedCode& code) {
  for (int i = 0; i < info.dlpi_phnum && code.build_id_bytes == 0; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_NOTE || begin < code.begin || begin + segment.p_memsz > code.end) continue;
    find_build_id(reinterpret_cast<const std::byte*>(begin), segment.p_memsz, code);
  }
}

}  // namespace

LoaderCounts loader_counts() noexcept {
  LoaderCounts counts;
  dl_iterate_phdr(read_counts, &counts);
  return counts;
}

const LoadedCode* LoadedCodes::same_in(const List& list, const LoadedCode& code) const noexcept {
  for (std::size_t i = 0; i < list.count; ++i) {
    const LoadedCode& each = list.codes[i];
    const bool same = each.begin == code.begin && each.end == code.end && each.base == code.base && each.path == code.path;
    if (same && std::memcmp(each.build_id, code.build_id, sizeof(code.build_id)) == 0) return &each;
  }
  return nullptr;
}

int LoadedCodes::add(dl_phdr_info* info, std::size_t, void* self) noexcept {
  auto& codes = *static_cast<LoadedCodes*>(self);
  List& list = codes.lists_[1 - codes.current_];
  if (list.count == kMost) return 1;
  LoadedCode code{};
  code.base = info->dlpi_addr;
  code.path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  read_segments(*info, code);
  if (code.end == 0) return 0;
  read_notes(*info, code);
  const LoadedCode* before = codes.same_in(codes.now(), code);
  code.number = before != nullptr ? before->number : ++codes.numbers_;
  list.codes[list.count++] = code;
  return 0;
}

void LoadedCodes::refresh(const LoaderCounts& now) noexcept {
  if (now == counts_) return;
  List& list = lists_[1 - current_];
  list.count = 0;
  dl_iterate_phdr(add, this);
  std::sort(list.codes, list.codes + list.count, [](const LoadedCode& a, const LoadedCode& b) { return a.begin < b.begin; });
  current_ = 1 - current_;
  counts_ = now;
}

const LoadedCode* LoadedCodes::find(const void* address) const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const LoadedCode* end = now().codes + now().count;
  const LoadedCode* next = std::upper_bound(now().codes, end, at, [](std::uintptr_t value, const LoadedCode& code) { return value < code.begin; });
  return next != now().codes && at < next[-1].end ? next - 1 : nullptr;
}

}  // namespace agent
