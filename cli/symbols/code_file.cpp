#include "cli/symbols/code_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace cli {
namespace {

namespace fs = std::filesystem;

void add(std::vector<std::string>& found, const fs::path& path) {
  std::error_code error;
  const bool is_new = std::ranges::find(found, path.native()) == found.end();
  if (path.is_absolute() && is_new && fs::is_regular_file(path, error)) found.push_back(path);
}

void add_by_build_id(std::vector<std::string>& found, const fs::path& directory, std::string_view build_id) {
  if (build_id.size() < 2) return;
  const std::string hex = hex_text(build_id);
  const fs::path file = directory / ".build-id" / hex.substr(0, 2) / hex.substr(2);
  add(found, file);
  add(found, file.native() + ".debug");
}

}  // namespace

std::string hex_text(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

std::string address_text(std::string_view path, std::uint64_t address) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return path.empty() ? fmt::format("{:#x}", address) : fmt::format("{}+{:#x}", name, address);
}

std::vector<std::string> code_file_candidates(const CodeObject& object, const std::vector<std::string>& directories) {
  std::vector<std::string> found;
  const fs::path path(object.path);
  add(found, path);
  for (const std::string& directory : directories) {
    const fs::path folder = fs::absolute(directory);
    add(found, folder / path.relative_path());
    add(found, folder / path.filename());
    add_by_build_id(found, folder, object.build_id);
  }
  add_by_build_id(found, "/usr/lib/debug", object.build_id);
  return found;
}

}  // namespace cli
