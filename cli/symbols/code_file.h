// Which file has the code of a native frame, or what a debugger needs to know of it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// A loaded object, as a recording has it (trace::ObjectRecord).
struct CodeObject {
  std::string path;
  std::string build_id;  // its bytes; "": unknown
  friend auto operator<=>(const CodeObject&, const CodeObject&) = default;
};

// "1f4bc0..." of bytes.
std::string hex_text(std::string_view bytes);

// "libtorch_cpu.so+0x1234"; of code that no file holds the address alone.
std::string address_text(std::string_view path, std::uint64_t address);

// Where to look for it, best first: its own path; in each directory its path, its file name, and .build-id/XX/REST, with and without
// .debug; /usr/lib/debug/.build-id. Only regular files, and only whole paths. Whether one is the right one, its build id says.
std::vector<std::string> code_file_candidates(const CodeObject& object, const std::vector<std::string>& directories);

}  // namespace cli
