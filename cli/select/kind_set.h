// --kinds kernel,memcpy,nccl: the words are the names of cli/model/kinds.h.
#pragma once
#include <string_view>

#include "cli/model/kinds.h"

namespace cli {

// Throws Error (usage) that names the unknown word and all that there are.
KindSet kinds_option(std::string_view option, std::string_view text);

}  // namespace cli
