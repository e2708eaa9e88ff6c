// The command that has Nsight Compute look at one kernel.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

// What ncu calls a kernel where nothing else is asked for (--kernel-name-base function): its function's name, without namespaces,
// template arguments and parameters; of linker names the demangled one's. "" where a name has none.
std::string function_name(std::string_view kernel);

// Of five launches of the kernel, after `skip` of it, in `program` and its children. `program`: as the recording has it; "": unknown.
std::string ncu_command(std::string_view kernel, std::int64_t skip, const std::string& program);

}  // namespace cli
