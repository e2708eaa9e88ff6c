#include "cli/timeline/select/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/base/error.h"

namespace cli {
namespace {

std::string all_words() {
  std::string words;
  for (const KindInfo& info : kKinds) words += fmt::format("{}{}", words.empty() ? "" : ", ", info.name);
  return words;
}

}  // namespace

KindSet kinds_option(std::string_view option, std::string_view text) {
  KindSet kinds;
  for (std::string_view rest = text;;) {
    const std::string_view word = rest.substr(0, rest.find(','));
    const auto info = std::find_if(kKinds.begin(), kKinds.end(), [&](const KindInfo& r) { return r.name == word; });
    if (info == kKinds.end()) {
      throw Error(Exit::usage, fmt::format("{}: no kind \"{}\"; kinds: {}", option, word, all_words()));
    }
    kinds.set(static_cast<std::size_t>(info - kKinds.begin()));
    if (word.size() == rest.size()) return kinds;
    rest.remove_prefix(word.size() + 1);
  }
}

}  // namespace cli
