#include "cli/formats/reading/device_facts.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace cli {
namespace {

template <typename Number>
void take_number(const simdjson::dom::element& object, const char* key, Number& number) {
  std::uint64_t value = 0;
  if (object[key].get(value) == simdjson::SUCCESS) number = static_cast<Number>(value);
}

}  // namespace

std::vector<Device> device_facts(const Process& process) {
  if (!process.devices.empty() || process.kineto_header.find("deviceProperties") == std::string::npos) return process.devices;
  std::vector<Device> devices;
  simdjson::dom::parser parser;
  simdjson::dom::element header;
  simdjson::dom::array properties;
  if (parser.parse("{" + process.kineto_header + "}").get(header) || header["deviceProperties"].get(properties)) return devices;
  for (const simdjson::dom::element object : properties) {
    std::int64_t id = -1;
    std::string_view name;
    if (object["id"].get(id) != simdjson::SUCCESS) continue;
    Device& device = devices.emplace_back();
    device.device = id;
    if (object["name"].get(name) == simdjson::SUCCESS) device.name = name;
    take_number(object, "totalGlobalMem", device.memory_bytes);
    take_number(object, "computeMajor", device.compute_major);
    take_number(object, "computeMinor", device.compute_minor);
  }
  return devices;
}

std::optional<Device> device_facts(const Process& process, std::int64_t device) {
  for (const Device& each : device_facts(process)) {
    if (each.device == device) return each;
  }
  return std::nullopt;
}

std::string software_text(const Process& process) {
  static constexpr std::array kMembers{std::pair{"cuda_runtime_version", "CUDA runtime"}, std::pair{"cuda_driver_version", "CUDA driver"}, std::pair{"hip_runtime_version", "HIP runtime"},
                                       std::pair{"hip_driver_version", "HIP driver"}};
  if (process.kineto_header.find("_version") == std::string::npos) return "";
  simdjson::dom::parser parser;
  simdjson::dom::element header;
  if (parser.parse("{" + process.kineto_header + "}").get(header)) return "";
  std::string text;
  for (const auto& [key, words] : kMembers) {
    std::uint64_t number = 0;  // 12060 is 12.6
    if (header[key].get(number) != simdjson::SUCCESS || number == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", words, key[0] == 'h' ? fmt::format("{}", number) : fmt::format("{}.{}", number / 1000, number % 1000 / 10));
  }
  return text;
}

}  // namespace cli
