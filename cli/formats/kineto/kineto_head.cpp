#include "cli/formats/kineto/kineto_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "cli/formats/kineto/kineto_groups.h"
#include "cli/base/json_text.h"
#include "cli/formats/json/export_mark.h"

namespace cli {
namespace {

constexpr std::int64_t kIntervalNs = 7'889'238'000'000'000;

void property(std::string& to, std::string_view key, std::uint64_t value) {
  if (value != 0) fmt::format_to(std::back_inserter(to), ", \"{}\": {}", key, value);
}

std::string device_properties(const Device& d) {
  std::string text = fmt::format("{{\"id\": {}, \"name\": {}", d.device, json_quoted(d.name));
  property(text, "totalGlobalMem", d.memory_bytes);
  if (d.compute_major != 0) {
    text += fmt::format(", \"computeMajor\": {}, \"computeMinor\": {}", d.compute_major, d.compute_minor);
  }
  property(text, "maxThreadsPerBlock", d.max_threads_per_block);
  property(text, "maxThreadsPerMultiprocessor",
           std::uint64_t{d.max_warps_per_multiprocessor} * (d.threads_per_warp != 0 ? d.threads_per_warp : 32));
  property(text, "regsPerBlock", d.max_registers_per_block);
  property(text, "warpSize", d.threads_per_warp);
  property(text, "sharedMemPerBlock", d.max_shared_bytes_per_block);
  property(text, "numSms", d.multiprocessors);
  property(text, "regsPerMultiprocessor", d.max_registers_per_multiprocessor);
  property(text, "sharedMemPerMultiprocessor", d.max_shared_bytes_per_multiprocessor);
  return text + "}";
}

std::string all_devices(const Process& process) {
  std::string text = "\"deviceProperties\": [";
  for (const Device& device : process.devices) {
    text += (text.back() == '[' ? "\n    " : ",\n    ") + device_properties(device);
  }
  return text + "]";
}

std::string group(std::uint64_t communicator, const KinetoGroups::Group& group) {
  std::string text = fmt::format("{{\"pg_name\": \"{}\", \"pg_desc\": \"\", \"backend_config\": \"cuda:nccl\"",
                                 communicator_name(communicator));
  if (group.size > 0) text += fmt::format(", \"pg_size\": {}", group.size);
  if (!group.ranks.empty()) text += fmt::format(", \"ranks\": [{}]", list(group.ranks));
  return text + "}";
}

std::string all_groups(const Catalog& catalog, const Process& p) {
  const KinetoGroups groups(catalog, p);
  std::string configurations;
  std::size_t count = 0;
  for (const Communicator& c : p.communicators) {
    const KinetoGroups::Group* known = groups.find(c.communicator);
    if (known == nullptr) continue;
    configurations += (count++ == 0 ? "" : ", ") + group(c.communicator, *known);
  }
  return fmt::format(",\n    \"pg_count\": {}, \"pg_config\": [{}]", count, configurations);
}

// `"rank": N` stands on a line of its own.
std::string distributed_info(const Catalog& catalog, const Process& p) {
  std::string text = "\"distributedInfo\": {";
  if (!p.communicators.empty()) text += "\"backend\": \"nccl\",";
  text += fmt::format("\n    \"rank\": {}", p.rank);
  if (p.world_size >= 0) text += fmt::format(",\n    \"world_size\": {}", p.world_size);
  if (!p.communicators.empty()) text += all_groups(catalog, p);
  if (const std::uint32_t v = p.recorder.nccl_version; v != 0) {
    text += fmt::format(",\n    \"nccl_version\": \"{}.{}.{}\"", v / 10000, v / 100 % 100, v % 100);
  }
  return text + "}";
}

std::string of_recording(const Catalog& catalog, const Process& p) {
  std::string text = "  \"schemaVersion\": 1,\n  " + all_devices(p);
  if (p.recorder.cupti_version != 0) text += fmt::format(",\n  \"cupti_version\": {}", p.recorder.cupti_version);
  if (p.recorder.cuda_driver_version != 0) {
    text += fmt::format(",\n  \"cuda_driver_version\": {}", p.recorder.cuda_driver_version);
  }
  if (!p.host.empty()) text += ",\n  \"host_name\": " + json_quoted(p.host);
  if (p.rank >= 0) text += ",\n  " + distributed_info(catalog, p);
  text += ",\n  " + export_mark({ExportMark::Form::kineto, p.run_id});
  return text + ",\n  \"displayTimeUnit\": \"ms\"";
}

// As HTA finds it; -1: it finds none.
std::int64_t rank_that_hta_finds(std::string_view text) {
  constexpr std::string_view kKey = "\"rank\":", kSpace = " \t\n\r";
  for (std::size_t at = text.find(kKey); at != text.npos; at = text.find(kKey, at + 1)) {
    const std::size_t behind = at + kKey.size();
    const std::size_t digits = std::min(text.find_first_not_of(kSpace, behind), text.size());
    std::int64_t rank = -1;
    std::from_chars(text.data() + digits, text.data() + text.size(), rank);
    if (digits > behind && rank >= 0) return rank;
  }
  return -1;
}

std::string of_kineto(const Process& p) {
  std::string text = "  " + p.kineto_header;
  if (p.rank < 0 || rank_that_hta_finds(text) == p.rank) return text;
  const bool has_info = text.find("\"distributedInfo\":") != text.npos;
  const std::string rank =
      fmt::format("  \"{}\": {{\n    \"rank\": {}}}", has_info ? "tracetool" : "distributedInfo", p.rank);
  return p.kineto_header.empty() ? rank : rank + ",\n" + text;
}

std::int64_t first_of_all(const Catalog& catalog) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const Process& p : catalog.processes) {
    if (p.last_ns != 0) first = std::min(first, p.first_ns);
  }
  return first == std::numeric_limits<std::int64_t>::max() ? 0 : first;
}

}  // namespace

std::int64_t kineto_base_ns(const Catalog& catalog, const Process& process) {
  if (process.format == SourceFormat::kineto) return process.kineto_base_ns.value_or(0);
  return first_of_all(catalog) / kIntervalNs * kIntervalNs;
}

std::string kineto_head(const Catalog& catalog, const Process& process) {
  const bool ours = process.format != SourceFormat::kineto;
  std::string text = "{\n" + (ours ? of_recording(catalog, process) : of_kineto(process));
  const std::string_view comma = text.find_first_not_of("{\n ") == text.npos ? "" : ",\n";
  if (ours || process.kineto_base_ns) {
    text += fmt::format("{}  \"baseTimeNanoseconds\": {},\n", comma, kineto_base_ns(catalog, process));
  } else {
    text += comma;
  }
  return text + "  \"traceEvents\": [";
}

std::string kineto_tail(const Process& process) {
  if (process.format == SourceFormat::kineto) return "\n  ]\n}\n";
  return "\n  ],\n  \"traceName\": " + json_quoted(process.source) + "\n}\n";
}

}  // namespace cli
