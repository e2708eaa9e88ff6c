// What a recording does not hold (cli/trace/losses.h), as JSON.
#pragma once
#include <string>

#include "cli/trace/catalog.h"

namespace cli {

// Members of a JSON object, each with a comma before it: ,"overwritten":{"kernel":12345},"lost":{...}; "" for none.
std::string loss_json(const Process& process);
// Its parts.
std::string overwritten_json(const Process& process);
std::string unrecorded_json(const Process& process);

}  // namespace cli
