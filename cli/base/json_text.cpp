#include "cli/base/json_text.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/utf8.h"

namespace cli {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (unsigned byte = 0x20; byte < 0x7F; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();
bool plain_byte(unsigned char byte) { return kPlain[byte]; }

constexpr auto kPairs = [] {  // "000102...99"
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();
constexpr auto kPowersOf10 = [] {
  std::array<std::uint64_t, 20> powers{1};
  for (std::size_t i = 1; i < 20; ++i) powers[i] = powers[i - 1] * 10;
  powers[0] = 0;  // so that 0 has one digit
  return powers;
}();

void escaped_code(JsonText& out, std::uint32_t code) {
  static constexpr char kHex[] = "0123456789abcdef";
  const char text[] = {'\\', 'u', kHex[code >> 12], kHex[code >> 8 & 15], kHex[code >> 4 & 15], kHex[code & 15]};
  out.raw({text, sizeof text});
}

void escaped(JsonText& out, unsigned char byte) {
  constexpr std::string_view kNamed = "\"\\\n\r\t", kLetters = "\"\\nrt";
  const std::size_t named = kNamed.find(static_cast<char>(byte));
  if (named == kNamed.npos) return escaped_code(out, byte);
  const char text[] = {'\\', kLetters[named]};
  out.raw({text, sizeof text});
}

// Writes the character at `p`, which needs escaping or replacement; returns its length in bytes.
std::size_t special(JsonText& out, const unsigned char* p, std::size_t left) {
  if (*p < 0x80) {
    escaped(out, *p);
    return 1;
  }
  const std::size_t length = trace::utf8_length(p, left);
  if (const std::uint32_t code = trace::misleading_code_point(p, length); code != 0) {
    escaped_code(out, code);
    return length;
  }
  out.raw(length ? std::string_view(reinterpret_cast<const char*>(p), length) : kReplacement);
  return length ? length : 1;
}

}  // namespace

char* put_digits(char* at, std::uint64_t value) {
  // Approximation of log10: exact or one too low
  const auto length = static_cast<unsigned>(64 - __builtin_clzll(value | 1)) * 1233 >> 12;
  char* const end = at + length + (value >= kPowersOf10[length]);
  char* to = end;
  for (; value >= 100; value /= 100) {
    to -= 2;
    std::memcpy(to, kPairs.data() + value % 100 * 2, 2);
  }
  if (value >= 10) {
    std::memcpy(to - 2, kPairs.data() + value * 2, 2);
  } else {
    to[-1] = static_cast<char>('0' + value);
  }
  return end;
}

void JsonText::micros(std::uint64_t ns) {
  char* const begin = room(28);
  char* at = put_digits(begin, ns / 1000);
  const std::uint64_t rest = ns % 1000;
  at[0] = '.';
  at[1] = static_cast<char>('0' + rest / 100);
  std::memcpy(at + 2, kPairs.data() + rest % 100 * 2, 2);
  used_ += static_cast<std::size_t>(at + 4 - begin);
}

void JsonText::real(double value) {
  constexpr double kWhole = 1ull << 53;
  if (!std::isfinite(value)) return raw("null");
  if (std::abs(value) < kWhole && value == std::trunc(value)) return number(static_cast<std::int64_t>(value));
  char* at = room(32);
  used_ += static_cast<std::size_t>(std::to_chars(at, at + 32, value, std::chars_format::general, 6).ptr - at);
}

void JsonText::move_tail(std::size_t since, std::size_t position) {
  const auto at = [&](std::size_t offset) { return bytes_.begin() + static_cast<std::ptrdiff_t>(offset); };
  std::rotate(at(position), at(since), at(used_));
}

void JsonText::flush() {
  if (used_ > 0) sink_->write({bytes_.data(), used_});
  used_ = 0;
}

void JsonText::grow(std::size_t size) { bytes_.resize(std::max(bytes_.size() * 2, used_ + size)); }

void json_string(JsonText& out, std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* const end = p + text.size();
  out.raw("\"");
  while (p < end) {
    const unsigned char* stop = std::find_if_not(p, end, plain_byte);
    out.raw({reinterpret_cast<const char*>(p), static_cast<std::size_t>(stop - p)});
    p = stop;
    if (p < end) p += special(out, p, static_cast<std::size_t>(end - p));
  }
  out.raw("\"");
}

std::string_view valid_utf8(std::string_view text, std::string& scratch) {
  if (simdjson::validate_utf8(text.data(), text.size())) return text;
  scratch.clear();
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = p[at] < 0x80 ? 1 : trace::utf8_length(p + at, text.size() - at);
    scratch += length ? text.substr(at, length) : kReplacement;
    at += length ? length : 1;
  }
  return scratch;
}

bool json_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return plain_byte(static_cast<unsigned char>(c)); });
}

std::string json_quoted(std::string_view text) {
  struct Text : ByteSink {
    void write(std::string_view bytes) override { all += bytes; }
    void finish() override {}
    std::string all;
    JsonText out{*this};  // shared by all calls, because its buffer is large
  };
  thread_local Text quoted;
  quoted.all.clear();
  json_string(quoted.out, text);
  quoted.out.flush();
  return quoted.all;
}

}  // namespace cli
