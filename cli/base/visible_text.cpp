#include "cli/base/visible_text.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "cli/base/terminal.h"
#include "common/utf8.h"

namespace cli {
namespace {

bool is_plain(char c) { return c >= ' ' && c <= '~'; }

void add_byte(std::string& out, unsigned char byte) {
  constexpr std::string_view kNamed = "\t\n\r", kLetters = "tnr";
  const std::size_t named = kNamed.find(static_cast<char>(byte));
  out += named != kNamed.npos ? std::string{'\\', kLetters[named]} : fmt::format("\\x{:02x}", byte);
}

}  // namespace

std::string visible_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto stop = std::find_if_not(text.begin(), text.end(), is_plain);
    out.append(text.begin(), stop);
    text.remove_prefix(static_cast<std::size_t>(stop - text.begin()));
    if (text.empty()) break;
    const auto* at = reinterpret_cast<const unsigned char*>(text.data());
    const std::size_t length = trace::utf8_length(at, text.size());
    if (const std::uint32_t code = trace::misleading_code_point(at, length); code != 0) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
    } else if (length > 0) {
      out += text.substr(0, length);
    } else {
      add_byte(out, *at);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

void add_line(std::string& out, std::string_view text) { out.append(visible_text(text)).append("\n"); }

void print_line(std::string_view text) {
  if (!is_quiet()) print_error(text);
}

void print_error(std::string_view text) { std::fputs((visible_text(text) + '\n').c_str(), stderr); }

}  // namespace cli
