// The native frames of the calling thread, each as a loaded object and an address in it. If Python's stacks are
// recorded (TRACETOOL_TORCH=stacks or all), Python's frames replace those of its interpreter. Names are found offline.
#pragma once
#include <cstddef>
#include <cstdint>

#include "agent/base/guard.h"
#include "agent/python/python_stacks.h"

// Finds the loaded object that contains an address of code. dladdr(3) is not used, because another thread may hold its
// lock while it waits for us, in a constructor run by dlopen(3). dl_iterate_phdr(3) takes a lock that is held only for
// short times.
namespace agent {

struct LoadedCode {
  std::uintptr_t begin, end;    // of its segments
  std::uintptr_t base;          // added by the loader to the addresses in the file
  const char* path;             // "" for the program; valid as long as it is loaded
  std::uint32_t number;         // unique in this process as long as it is loaded
  std::uint8_t build_id_bytes;  // 0 if it has none, or a longer one
  std::uint8_t build_id[32];
};

// Numbers of changes of the loader's list.
struct LoaderCounts {
  std::uint64_t loaded = 0, unloaded = 0;
  friend bool operator==(const LoaderCounts&, const LoaderCounts&) = default;
};
LoaderCounts loader_counts() noexcept;

// All loaded objects, sorted; the first kMost if there are more. One thread at a time.
class LoadedCodes {
 public:
  // Reads the loader's list again if it has changed. Objects that are still loaded keep their numbers.
  void refresh(const LoaderCounts& now) noexcept;
  // Returns null if no object contains the address.
  const LoadedCode* find(const void* address) const noexcept;

 private:
  static constexpr std::size_t kMost = 2048;
  struct List {
    std::size_t count = 0;
    LoadedCode codes[kMost];
  };
  const LoadedCode* same_in(const List& list, const LoadedCode& code) const noexcept;
  const List& now() const noexcept { return lists_[current_]; }

  LoaderCounts counts_{};
  std::uint32_t numbers_ = 0;
  std::size_t current_ = 0;
  List lists_[2]{};
};

class NativeStack {
 public:
  static constexpr std::size_t kMost = 128;  // frames, except Python's

  static constexpr std::size_t kMostBytes = kMost * sizeof(std::uint32_t) + PythonStack::kMostBytes;

  // Captures the calling thread's stack. The recording must be open and prepare_backtraces() must have succeeded.
  explicit NativeStack(const Guard& guard) noexcept;
  // Writes the stack and returns its reference, or kNoRef if there is no room or a frame is unknown. The writer must have been made with
  // kMostBytes and must not have named anything yet.
  std::uint32_t write(HostWriter& writer) const noexcept;

 private:
  std::uint32_t write_locked(HostWriter& writer) const noexcept;

  LoaderCounts counts_;
  std::size_t count_ = 0;
  const void* addresses_[kMost];
  PythonStack python_;
};

}  // namespace agent
