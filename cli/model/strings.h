// Texts that repeat, kept once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/model/event.h"

namespace cli {

// Interned strings; ids are dense from 0 ("") and views never move, but a copy has its own.
class Strings {
 public:
  Strings() { intern(""); }
  explicit Strings(const Strings& from);
  Strings(Strings&&) = default;
  Strings& operator=(Strings&&) = default;
  StringId intern(std::string_view text);
  StringId find(std::string_view text) const;  // 0: it is not there, or ""
  std::string_view operator[](StringId id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    StringId next_id = 0;  // id + 1; 0: free
  };
  std::size_t slot_of(std::string_view text, std::uint32_t hash) const;  // its own, or the free one for it
  std::string_view keep(std::string_view text);
  void grow();

  std::vector<std::string_view> texts_;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* chunk_end_ = nullptr;
  std::size_t chunk_left_ = 0;  // bytes free before chunk_end_
};

}  // namespace cli
