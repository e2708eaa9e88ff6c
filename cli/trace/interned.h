// Values that repeat, kept once: ids are dense from 0, which is the value that says nothing.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "cli/trace/id_table.h"

namespace cli {

// The number of a value in an Interned<T>.
template <typename T>
struct InternedId {
  std::uint32_t value = 0;

  constexpr InternedId() = default;
  constexpr InternedId(std::uint32_t number) : value(number) {}
  constexpr operator std::uint32_t() const { return value; }
};

// `T` is comparable, and has its fields in payload_fields() (payload.h).
template <typename T>
class Interned {
 public:
  using Id = InternedId<T>;

  Interned() { intern(T{}); }
  Id intern(const T& value) {
    const auto next = static_cast<std::uint32_t>(values_.size());
    const Id id = ids_.intern(hash_of(value), next, [&](std::uint32_t known) { return values_[known] == value; });
    if (id == next) values_.push_back(value);
    return id;
  }
  const T& operator[](Id id) const { return values_[id]; }
  std::size_t size() const { return values_.size(); }
  const std::vector<T>& all() const { return values_; }

 private:
  // A visitor of fields.
  struct Mix {
    std::uint64_t hash = 0x9e3779b97f4a7c15u;
    template <typename V>
    void number(const char*, const V& value, bool = true) {
      if constexpr (std::is_same_v<V, float>) {
        add(std::bit_cast<std::uint32_t>(value));
      } else {
        add(static_cast<std::uint64_t>(value));
      }
    }
    template <typename V>
    void delta(const char*, const V& value, bool = true) {
      add(static_cast<std::uint64_t>(value));
    }
    template <typename V>
    void hex(const char*, const V& value, bool = true) {
      add(static_cast<std::uint64_t>(value));
    }
    void string(const char*, std::uint32_t id, bool = true) { add(id); }
    template <typename U>
    void id(const char*, InternedId<U> id, bool = true) {
      add(id);
    }
    void add(std::uint64_t value) {
      hash = (hash ^ value) * 0xc2b2ae3d27d4eb4fu;
      hash ^= hash >> 29;
    }
  };
  static std::uint32_t hash_of(const T& value) {
    Mix mix;
    payload_fields(mix, value);
    return static_cast<std::uint32_t>(mix.hash);
  }

  std::vector<T> values_;
  IdTable ids_;
};

}  // namespace cli
