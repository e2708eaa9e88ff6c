// Who holds CUPTI when we may not have it.
#pragma once
#include <cstddef>

namespace agent {

// The other subscriber's name as CUPTI 13 tells it, else the tool whose library is in the process, else "another tool".
void name_cupti_holder(char* text, std::size_t size) noexcept;

}  // namespace agent
