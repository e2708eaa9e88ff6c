// Writes and reads the fields of the list entries of a merged file (file.h).
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli::ttrace {

// LEB128: seven bits per byte, lowest first; the high bit is set in all bytes except the last. Zigzag stores the sign
// in bit 0.
constexpr std::uint64_t zigzag(std::uint64_t value) { return value << 1 ^ (value >> 63 != 0 ? ~std::uint64_t{0} : 0); }
constexpr std::uint64_t unzigzag(std::uint64_t value) { return value >> 1 ^ (~(value & 1) + 1); }

inline constexpr std::size_t kMaxVarint = 10;

// Writes to `at`, which needs kMaxVarint bytes of space. Returns the end.
inline char* put_varint(char* at, std::uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<char>(value);
  return at;
}

inline void append_varint(std::string& out, std::uint64_t value) {
  char bytes[kMaxVarint];
  out.append(bytes, static_cast<std::size_t>(put_varint(bytes, value) - bytes));
}

inline std::uint64_t take_long_varint(std::string_view& in, bool& bad) {
  std::uint64_t value = 0;
  for (unsigned shift = 0, at = 0; at < in.size() && shift < 70; ++at, shift += 7) {
    const auto byte = static_cast<std::uint8_t>(in[at]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      in.remove_prefix(at + 1);
      return value;
    }
  }
  bad = true;
  in = {};
  return 0;
}

// Removes one number from the front of `in`. If `in` ends early or the number has more than 64 bits, sets `bad` and
// returns 0.
[[gnu::always_inline]] inline std::uint64_t take_varint(std::string_view& in, bool& bad) {
  const auto first = static_cast<std::uint8_t>(in.empty() ? 0x80 : in.front());
  if (first >= 0x80) return take_long_varint(in, bad);
  in.remove_prefix(1);
  return first;
}

class FieldWriter {
 public:
  explicit FieldWriter(std::string& out) : out_(out) {}

  template <typename T>
  void number(T value) {
    append_varint(out_, zigzag(static_cast<std::uint64_t>(value)));
  }
  void text(std::string_view text) {
    number(text.size());
    out_.append(text);
  }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  void optional(const std::optional<std::int64_t>& value) {
    number(value.has_value());
    if (value) number(*value);
  }
  template <typename T, typename Fields>
  void optional_entry(const std::optional<T>& value, Fields&& fields) {
    number(value.has_value());
    if (value) entry(*value, fields);
  }
  void numbers(const std::vector<std::int64_t>& values) {
    list(values, [this](auto value) { number(value); });
  }
  void counts(const KindCounts& values) {
    list(values, [this](auto value) { number(value); });
  }
  void texts(const std::vector<std::string>& values) {
    list(values, [this](auto& value) { text(value); });
  }
  // Writes an entry within this one; `fields(writer, value)` writes its fields.
  template <typename T, typename Fields>
  void entry(const T& value, Fields&& fields) {
    std::string inner;
    FieldWriter writer(inner);
    fields(writer, value);
    text(inner);
  }
  template <typename T, typename Fields>
  void entries(const std::vector<T>& values, Fields&& fields) {
    list(values, [&](auto& value) { entry(value, fields); });
  }

 private:
  template <typename List, typename F>
  void list(const List& values, F&& write) {
    number(values.size());
    for (const auto& value : values) write(value);
  }

  std::string& out_;
};

// Reads the fields of an entry. Fields after the end of the entry keep their values. bad() returns true afterwards if a
// length or number was invalid.
class FieldReader {
 public:
  // `kinds` are the kinds of this build, indexed by the file's numbers.
  FieldReader(std::string_view entry, const std::vector<Kind>& kinds) : in_(entry), kinds_(kinds) {}

  template <typename T>
  void number(T& value) {
    if (in_.empty()) return;
    const std::uint64_t raw = take();
    value = narrow<T>(raw);
    bad_ |= static_cast<std::uint64_t>(value) != raw;
  }
  void text(std::string& text) {
    if (in_.empty()) return;
    const std::uint64_t size = length();
    text.assign(in_.substr(0, size));
    in_.remove_prefix(size);
  }
  void real(double& value) {
    if (!in_.empty()) value = std::bit_cast<double>(take());
  }
  void optional(std::optional<std::int64_t>& value) {
    if (in_.empty()) return;
    if (take() != 0) value = static_cast<std::int64_t>(take());
  }
  template <typename T, typename Fields>
  void optional_entry(std::optional<T>& value, Fields&& fields) {
    if (in_.empty()) return;
    if (take() != 0) entry(value.emplace(), fields);
  }
  void numbers(std::vector<std::int64_t>& values) {
    each([&] { values.push_back(static_cast<std::int64_t>(take())); });
  }
  void counts(KindCounts& values) {
    std::size_t kind = 0;
    each([&] {
      const std::uint64_t value = take();
      values[static_cast<std::size_t>(kind < kinds_.size() ? kinds_[kind] : Kind::other)] += value;
      ++kind;
    });
  }
  void texts(std::vector<std::string>& values) {
    each([&] { text(values.emplace_back()); });
  }
  template <typename T, typename Fields>
  void entry(T& value, Fields&& fields) {
    if (in_.empty()) return;
    const std::uint64_t size = length();
    FieldReader reader(in_.substr(0, size), kinds_);
    fields(reader, value);
    bad_ |= reader.bad();
    in_.remove_prefix(size);
  }
  template <typename T, typename Fields>
  void entries(std::vector<T>& values, Fields&& fields) {
    each([&] { in_.empty() ? void(bad_ = true) : entry(values.emplace_back(), fields); });
  }

  bool bad() const { return bad_; }

 private:
  std::uint64_t take() { return unzigzag(take_varint(in_, bad_)); }

  // Returns the length of what follows; a list has at least one byte per element.
  std::uint64_t length() {
    const std::uint64_t size = take();
    if (size <= in_.size()) return size;
    bad_ = true;
    in_ = {};
    return 0;
  }

  template <typename F>
  void each(F&& read) {
    if (in_.empty()) return;
    for (std::uint64_t left = length(); left > 0 && !bad_; --left) read();
  }

  template <typename T>
  static T narrow(std::uint64_t raw) {
    if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(static_cast<std::underlying_type_t<T>>(raw));
    } else {
      return static_cast<T>(raw);
    }
  }

  std::string_view in_;
  const std::vector<Kind>& kinds_;
  bool bad_ = false;
};

}  // namespace cli::ttrace
