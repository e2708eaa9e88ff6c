// C++ functions as demanglers print them, made short: the grammar that short_name() goes by.
#pragma once
#include <string>
#include <string_view>

namespace cli {

// Without return type, namespaces, parameters, const and what stands behind; template arguments likewise, two levels
// deep and until some hundred bytes are full. "" when it is not understood. Linear in the length; any bytes.
std::string shorten_signature(std::string_view text);

}  // namespace cli
