// What an earlier export under the same name left, of which this one replaced nothing: its other parts, or the whole.
#pragma once
#include <string>
#include <vector>

namespace cli {

// A sentence that names them and says what to do; "" where there are none. `written` are the paths of this export.
std::string old_parts_note(const std::string& output, const std::vector<std::string>& written);

}  // namespace cli
