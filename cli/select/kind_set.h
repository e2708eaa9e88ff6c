// --kinds kernel,memcpy,nccl: the words are the names of cli/model/kinds.h.
#pragma once
#include <bitset>
#include <cstddef>
#include <string_view>

#include "cli/model/event.h"

namespace cli {

using KindSet = std::bitset<static_cast<std::size_t>(Kind::count_)>;

// Throws Error (usage) that names the unknown word and all that there are.
KindSet kinds_option(std::string_view option, std::string_view text);

}  // namespace cli
