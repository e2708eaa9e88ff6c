// What of a folder is ours and may be removed; used by disk_cap.cpp alone. No link is ever followed.
#pragma once
#include <dirent.h>

#include <cstdint>

#include "common/layout.h"

namespace agent {

inline constexpr char kLocalPrefix[] = "tracetool-";

// The entries of a folder by name, "." and ".." left out, `most` at most.
class Listing {
 public:
  explicit Listing(int folder) noexcept;  // keeps its own descriptor
  ~Listing();
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;
  const char* next() noexcept;  // null: no more

 private:
  DIR* at_ = nullptr;
  int left_ = 4096;
};

bool ends_with(const char* text, const char* ending) noexcept;
bool starts_with(const char* text, const char* beginning) noexcept;

// X.ring, X.spool or .X.ring.part: how our files are called.
bool has_own_name(const char* name) noexcept;

// The header of our ring `name`, when it is one. Opened without following or waiting.
bool read_ring_header(int folder, const char* name, trace::FileHeader& header) noexcept;

// Removes `name` if it is ours and nobody's work. True: it is gone. A spool goes when its ring is gone.
bool remove_own_file(int folder, const char* name) noexcept;

}  // namespace agent
