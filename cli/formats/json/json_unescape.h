// The text that a JSON string stands for.
#pragma once
#include <string>
#include <string_view>

namespace cli {

// `raw` is what lies between the quotes, with valid escapes (has_valid_escapes). Returns `raw` itself when nothing is
// escaped, else a view of `scratch`. A lone surrogate, which no UTF-8 can hold, becomes U+FFFD.
std::string_view unescape_json(std::string_view raw, std::string& scratch);

}  // namespace cli
