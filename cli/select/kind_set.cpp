#include "cli/select/kind_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/model/error.h"
#include "cli/model/kinds.h"

namespace cli {
namespace {

std::string all_words() {
  std::string words;
  for (const KindRow& row : kKinds) words += fmt::format("{}{}", words.empty() ? "" : ", ", row.name);
  return words;
}

}  // namespace

KindSet kinds_option(std::string_view option, std::string_view text) {
  KindSet kinds;
  for (std::string_view rest = text;;) {
    const std::string_view word = rest.substr(0, rest.find(','));
    const auto row = std::find_if(kKinds.begin(), kKinds.end(), [&](const KindRow& r) { return r.name == word; });
    if (row == kKinds.end()) {
      throw Error(Exit::usage, fmt::format("{}: there is no kind \"{}\"; there are {}", option, word, all_words()));
    }
    kinds.set(static_cast<std::size_t>(row - kKinds.begin()));
    if (word.size() == rest.size()) return kinds;
    rest.remove_prefix(word.size() + 1);
  }
}

}  // namespace cli
