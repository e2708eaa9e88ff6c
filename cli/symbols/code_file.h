// Finds the file that contains the code of a native frame, or its debug information.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// A loaded object, as in the recording (trace::ObjectRecord).
struct CodeObject {
  std::string path;
  std::string build_id;  // raw bytes; "" if unknown
  friend auto operator<=>(const CodeObject&, const CodeObject&) = default;
};

// Returns the bytes as hexadecimal digits: "1f4bc0...".
std::string hex_text(std::string_view bytes);

// Returns "libtorch_cpu.so+0x1234"; only the address if the code is in no file.
std::string address_text(std::string_view path, std::uint64_t address);

// Returns the paths to search, best first: the object's own path; in each directory its path, its file name, and
// .build-id/XX/REST, with and without .debug; /usr/lib/debug/.build-id. Only absolute paths of regular files. The
// caller has to compare the build id.
std::vector<std::string> code_file_candidates(const CodeObject& object, const std::vector<std::string>& directories);

}  // namespace cli
