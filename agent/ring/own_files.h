// What of a folder is ours and may be removed; used by disk_cap.cpp alone. No link is ever followed.
#pragma once
#include <dirent.h>

#include <cstdint>

#include "common/layout.h"

namespace agent {

inline constexpr char kLocalPrefix[] = "tracetool-";

inline constexpr int kMostNames = 4096;

// The entries of a folder by name, "." and ".." left out, `most` at most.
class Listing {
 public:
  explicit Listing(int folder, int most = kMostNames) noexcept;  // keeps its own descriptor
  ~Listing();
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;
  const char* next() noexcept;                       // null: no more
  bool is_whole() const noexcept { return whole_; }  // every entry was given, to the end

 private:
  DIR* at_ = nullptr;
  int left_;
  bool whole_ = false;
};

bool ends_with(const char* text, const char* ending) noexcept;
bool starts_with(const char* text, const char* beginning) noexcept;

// X.ring, X.spool or .X.ring.part: how our files are called.
bool has_own_name(const char* name) noexcept;

// The header of our ring `name`, when it is one. Opened without following or waiting.
bool read_ring_header(int folder, const char* name, trace::FileHeader& header) noexcept;

// Whether `name` is our ring and was recorded for `run`: what somebody copied to a folder of another name is not.
bool is_ring_of(int folder, const char* name, const char* run) noexcept;

// Whether somebody may be writing `name`: its lock is held, or it cannot be told and it changed within the last hour.
// A spool and a .part are as their ring; without it, in use for an hour. What is not ours is not in use.
bool is_in_use(int folder, const char* name) noexcept;

// Removes a ring of `run`, and before it the spool and the .part beside it, if it is not in use. Returns how many files
// are gone.
int remove_ring_of(int folder, const char* name, const char* run) noexcept;

// Removes a spool or .part without its ring, or a ring that was never finished, if it is not in use. Only for a folder
// that is known to be a run's. Returns 1 where it is gone.
int remove_orphan(int folder, const char* name) noexcept;

}  // namespace agent
