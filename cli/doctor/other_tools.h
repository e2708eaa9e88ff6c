// Tools that want the same place as we do, by the libraries that they bring.
#pragma once
#include <string_view>

namespace cli {

// "Nsight Systems" for ".../libToolsInjection64.so"; "" for none of those that we know.
std::string_view tool_of(std::string_view library);

}  // namespace cli
