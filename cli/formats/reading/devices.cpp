#include "cli/formats/reading/devices.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace cli {

namespace {

constexpr std::uint32_t kThreadsPerWarp = 32;
constexpr std::uint32_t kRegisterUnit = 256;  // allocation unit of registers per warp, since 2.0

// For every compute capability.
constexpr std::uint64_t kMostThreads = 1024, kMostRegisters = 255;
constexpr std::uint64_t kMostBlocksOfGrid = 0x7fffffffull * 0xffff * 0xffff;

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; }

// Limits that depend only on the compute capability. 3.x to 12.x are known.
struct Generation {
  std::uint32_t partitions;             // of a multiprocessor; a warp stays in one
  std::uint32_t shared_unit;            // allocation unit of shared memory
  std::uint32_t reserved_shared_bytes;  // per block, for the system
};

std::optional<Generation> generation(const Device& d) {
  if (d.compute_major < 3 || d.compute_major == 4 || d.compute_major > 12) return std::nullopt;
  const bool two_partitions = d.compute_major == 6 && d.compute_minor == 0;
  const bool since_ampere = d.compute_major >= 8;
  return Generation{two_partitions ? 2u : 4u, since_ampere ? 128u : 256u, since_ampere ? 1024u : 0u};
}

// Returns true for a launch that a GPU can run, so that arithmetic on it does not overflow.
bool can_be(const Device& d, const LaunchShape& shape) {
  return shape.threads_per_block != 0 && shape.threads_per_block <= kMostThreads && shape.blocks != 0 &&
         shape.blocks <= kMostBlocksOfGrid && shape.registers_per_thread <= kMostRegisters &&
         (d.max_shared_bytes_per_multiprocessor == 0 || shape.shared_bytes <= d.max_shared_bytes_per_multiprocessor);
}

bool limits_known(const Device& d) {
  return d.max_warps_per_multiprocessor != 0 && d.max_blocks_per_multiprocessor != 0 &&
         d.max_registers_per_multiprocessor != 0 && d.max_shared_bytes_per_multiprocessor != 0;
}

std::uint32_t blocks_by_registers(const Device& d, const Generation& g, std::uint32_t registers, std::uint32_t warps) {
  const std::uint32_t per_warp = round_up(registers * kThreadsPerWarp, kRegisterUnit);
  if (per_warp == 0) return d.max_blocks_per_multiprocessor;
  return d.max_registers_per_multiprocessor / g.partitions / per_warp * g.partitions / warps;
}

std::uint32_t blocks_by_shared(const Device& d, const Generation& g, std::uint64_t bytes) {
  const std::uint64_t used = bytes + g.reserved_shared_bytes;
  const std::uint64_t allocated = (used + g.shared_unit - 1) / g.shared_unit * g.shared_unit;
  if (allocated == 0) return d.max_blocks_per_multiprocessor;
  return static_cast<std::uint32_t>(d.max_shared_bytes_per_multiprocessor / allocated);
}

}  // namespace

std::optional<std::uint32_t> active_blocks(const Device& device, const LaunchShape& shape) {
  const auto known = generation(device);
  if (!known || !limits_known(device) || !can_be(device, shape)) return std::nullopt;
  const auto threads = static_cast<std::uint32_t>(shape.threads_per_block);
  const std::uint32_t warps = round_up(threads, kThreadsPerWarp) / kThreadsPerWarp;
  const std::uint32_t blocks =
      std::min({device.max_blocks_per_multiprocessor, device.max_warps_per_multiprocessor / warps,
                blocks_by_registers(device, *known, shape.registers_per_thread, warps),
                blocks_by_shared(device, *known, shape.shared_bytes)});
  if (blocks == 0) return std::nullopt;
  return blocks;
}

std::optional<Occupancy> estimate_occupancy(const Device& device, const LaunchShape& shape) {
  if (device.multiprocessors == 0 || !can_be(device, shape)) return std::nullopt;
  Occupancy result;
  const auto threads = static_cast<float>(shape.threads_per_block);
  result.blocks_per_multiprocessor = static_cast<float>(shape.blocks) / static_cast<float>(device.multiprocessors);
  result.warps_per_multiprocessor = result.blocks_per_multiprocessor * threads / kThreadsPerWarp;
  const auto active = active_blocks(device, shape);
  if (!active) return result;
  const float blocks = std::min(static_cast<float>(*active), result.blocks_per_multiprocessor);
  const float most_threads = static_cast<float>(device.max_warps_per_multiprocessor) * kThreadsPerWarp;
  result.achieved_percent = static_cast<std::uint32_t>(std::lround(blocks * threads / most_threads * 100));
  return result;
}

namespace {

template <typename Number>
void take_number(const simdjson::dom::element& object, const char* key, Number& number) {
  std::uint64_t value = 0;
  if (object[key].get(value) == simdjson::SUCCESS) number = static_cast<Number>(value);
}

}  // namespace

std::vector<Device> device_facts(const Process& process) {
  if (!process.devices.empty() || process.kineto_header.find("deviceProperties") == std::string::npos)
    return process.devices;
  std::vector<Device> devices;
  simdjson::dom::parser parser;
  simdjson::dom::element header;
  simdjson::dom::array properties;
  if (parser.parse("{" + process.kineto_header + "}").get(header) || header["deviceProperties"].get(properties))
    return devices;
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
  static constexpr std::array kMembers{
      std::pair{"cuda_runtime_version", "CUDA runtime"}, std::pair{"cuda_driver_version", "CUDA driver"},
      std::pair{"hip_runtime_version", "HIP runtime"}, std::pair{"hip_driver_version", "HIP driver"}};
  if (process.kineto_header.find("_version") == std::string::npos) return "";
  simdjson::dom::parser parser;
  simdjson::dom::element header;
  if (parser.parse("{" + process.kineto_header + "}").get(header)) return "";
  std::string text;
  for (const auto& [key, words] : kMembers) {
    std::uint64_t number = 0;  // 12060 means 12.6
    if (header[key].get(number) != simdjson::SUCCESS || number == 0) continue;
    text += fmt::format(
        "{}{} {}", text.empty() ? "" : ", ", words,
        key[0] == 'h' ? fmt::format("{}", number) : fmt::format("{}.{}", number / 1000, number % 1000 / 10));
  }
  return text;
}

}  // namespace cli
