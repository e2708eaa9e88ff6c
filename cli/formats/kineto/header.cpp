#include "cli/formats/kineto/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <utility>

#include "cli/base/json_text.h"
#include "cli/formats/json/file_kind.h"
#include "cli/formats/json/json_damage.h"
#include "cli/formats/json/json_values.h"
#include "cli/formats/kineto/fields.h"
#include "cli/formats/kineto/message.h"
#include "cli/formats/kineto/translate.h"

namespace cli::kineto {
namespace {

namespace od = simdjson::ondemand;

// Visits the members of an object that are strings, numbers or words.
template <typename Visit>
void for_each_scalar(od::object object, const char* end, Visit visit) {
  for (auto result : object) {
    od::field field;
    if (std::move(result).get(field)) return;
    const std::string_view key = key_text(field, end);
    od::value value = field.value();
    JsonScalar scalar;
    if (read_scalar(value, scalar)) visit(key, scalar);
  }
}

std::string unescaped(const JsonScalar& scalar) {
  std::string scratch;
  return std::string(unescape_json(scalar.text, scratch));
}

std::optional<std::int64_t> integer_in(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  return to_int64(text);
}

void take_distributed(Header& header, std::string_view text) {
  const simdjson::padded_string padded(text);
  od::parser parser;
  od::document document;
  od::object object;
  if (parser.iterate(padded).get(document) || document.get_object().get(object)) return;
  for_each_scalar(object, padded.data() + padded.size(), [&](std::string_view key, const JsonScalar& scalar) {
    if (key == "rank") {
      const std::int64_t rank = to_int64(scalar.text).value_or(-1);
      header.ranks_differ |= header.rank >= 0 && rank != header.rank;
      header.rank = rank;
    }
    if (key == "world_size") header.world_size = to_int64(scalar.text).value_or(-1);
  });
}

// Returns `"rank": 3` in the form that HTA finds.
bool take_damaged_rank(Header& header, std::string_view text) {
  constexpr std::string_view key = "\"rank\":";
  const std::size_t at = text.find(key);
  if (at == text.npos || header.rank >= 0) return false;
  text.remove_prefix(at + key.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \""), text.size()));
  header.rank = to_int64(text.substr(0, text.find_first_not_of("0123456789"))).value_or(-1);
  return header.rank >= 0;
}

void take_device(Header& header, od::object object, const char* end) {
  std::optional<std::int64_t> id;
  std::string name;
  for_each_scalar(object, end, [&](std::string_view key, const JsonScalar& scalar) {
    if (key == "id") id = to_int64(scalar.text);
    if (key == "name") name = unescaped(scalar);
  });
  if (id) header.device_names[*id] = name;
}

void take_devices(Header& header, std::string_view text) {
  const simdjson::padded_string padded(text);
  od::parser parser;
  od::document document;
  od::array array;
  if (parser.iterate(padded).get(document) || document.get_array().get(array)) return;
  for (auto result : array) {
    od::object object;
    if (std::move(result).get_object().get(object)) return;
    take_device(header, object, padded.data() + padded.size());
  }
}

}  // namespace

void Header::take(JsonStream& stream, std::string_view key) {
  const JsonValue value = stream.value();
  known_member_ |= is_known_member(key);
  if (value.form == JsonValue::Form::large) {
    left_out.emplace_back(key);
    return;
  }
  const bool good = value.form == JsonValue::Form::good;
  if (!use(key, value.text, good))
    stream.damage().lose_member(key, stream.text_offset(), "an integer number of nanoseconds");
  if (good && key != "baseTimeNanoseconds") keep(key, value.text);
}

// Reads only the rank from damaged text, at any position, because the ranks of a run cannot be distinguished without
// it.
bool Header::use(std::string_view key, std::string_view text, bool good) {
  if (key == "distributedInfo") {
    take_distributed(*this, text);
    if (!good) take_damaged_rank(*this, text);
    return true;
  }
  if (!good) return true;
  if (key == "baseTimeNanoseconds") return (base_ns = integer_in(text)).has_value();
  if (key == "deviceProperties") take_devices(*this, text);
  if (key == "host_name" && text.starts_with('"')) {
    host = unescaped({JsonScalar::Form::string, text.substr(1, text.size() - 2)});
  }
  return true;
}

void Header::keep(std::string_view key, std::string_view text) {
  if (members.size() + key.size() + text.size() > kMaxHeaderBytes) {
    left_out.emplace_back(key);
    return;
  }
  members.append(members.empty() ? "\"" : ", \"").append(key).append("\": ").append(text);
}

namespace {

// If `check_events` is false, events are skipped by their brackets, which is sufficient without damage. Returns true if
// no damage was found.
bool scan(const std::string& path, bool check_events, Header& header) {
  JsonStream stream(open_byte_source(path), path, JsonStream::kWindow);
  EventParser parser;
  RawEvent event;
  std::string key;
  std::string_view text;
  if (stream.open() == '[') return true;
  while (stream.next_member(key)) {
    if (key != "traceEvents") {
      header.take(stream, key);
      continue;
    }
    stream.enter_array();
    while (stream.next_element(text)) {
      if (check_events && !parser.parse(text, event)) stream.refuse(0, "an event");
    }
  }
  return stream.damage().none();
}

}  // namespace

Header scan_header(const std::string& path) {
  Header header;
  if (scan(path, false, header)) return header;
  header = {};
  scan(path, true, header);
  return header;
}

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

std::string group(std::uint64_t communicator, const Groups::Group& group) {
  std::string text = fmt::format("{{\"pg_name\": \"{}\", \"pg_desc\": \"\", \"backend_config\": \"cuda:nccl\"",
                                 communicator_name(communicator));
  if (group.size > 0) text += fmt::format(", \"pg_size\": {}", group.size);
  if (!group.ranks.empty()) text += fmt::format(", \"ranks\": [{}]", list(group.ranks));
  return text + "}";
}

std::string all_groups(const Catalog& catalog, const Process& p) {
  const Groups groups(catalog, p);
  std::string configurations;
  std::size_t count = 0;
  for (const Communicator& c : p.communicators) {
    const Groups::Group* known = groups.find(c.communicator);
    if (known == nullptr) continue;
    configurations += (count++ == 0 ? "" : ", ") + group(c.communicator, *known);
  }
  return fmt::format(",\n    \"pg_count\": {}, \"pg_config\": [{}]", count, configurations);
}

// `"rank": N` is on a separate line.
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

// Returns the rank as found by HTA; -1 if it finds none.
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

namespace {

// The required members are usually in the first few thousand bytes, so little more of a compressed file is
// decompressed.
constexpr std::size_t kPeekWindow = 128 << 10;

// Reads events up to the first one with its own time. Events at time 0 were clamped to the base by Kineto.
void look_at_events(JsonStream& stream, const Header& header, Peek& peek) {
  EventParser parser;
  RawEvent event;
  std::string_view text;
  while (stream.next_element(text)) {
    if (!parser.parse(text, event)) {
      stream.refuse(0, "an event");
      continue;
    }
    const char phase = kineto_phase(event);
    peek.is_trace = peek.is_trace || phase != '\0';
    const auto ts = micros_to_ns(event.ts.text);
    if (phase == '\0' || phase == 'M' || !ts || *ts == 0) continue;
    std::int64_t start_ns = *ts;
    if (start_ns < kSurelyAbsoluteNs) {
      if (!header.base_ns) return;
      if (__builtin_add_overflow(*header.base_ns, *ts, &start_ns)) continue;  // the reader refuses such an event, too
    }
    peek.start_ns = start_ns;
    return;
  }
}

}  // namespace

Peek peek(const std::string& path) {
  Peek peek;
  Header header;
  JsonStream stream(open_byte_source(path), path, kPeekWindow);
  if (stream.open() == '[') {
    look_at_events(stream, header, peek);
    return peek;
  }
  std::string key;
  while (stream.next_member(key)) {
    if (key != "traceEvents") {
      header.take(stream, key);
      continue;
    }
    peek.is_trace = true;
    peek.mark = find_export_mark(header.members);
    stream.enter_array();
    look_at_events(stream, header, peek);
    return peek;
  }
  peek.is_trace = stream.damage().is_cut() && header.is_of_a_trace();
  return peek;
}

}  // namespace cli::kineto
