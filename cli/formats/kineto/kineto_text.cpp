#include "cli/formats/kineto/kineto_text.h"

#include <fmt/format.h>

#include <iterator>

#include "cli/base/json_text.h"
#include "cli/trace/words.h"
#include "cli/trace/kinds.h"

namespace cli {

void KinetoText::separate() {
  out_.raw(first_ ? "\n" : ",\n");
  first_ = false;
}

void KinetoText::lines(std::string_view json) {
  if (json.empty()) return;
  separate();
  out_.raw(json);
}

void KinetoText::line(const KinetoLine& line) {
  separate();
  out_.raw("{\"ph\": \"");
  out_.raw({&line.phase, 1});
  out_.raw("\"");
  if (line.category) member("cat", *line.category);
  member("name", line.name);
  if (!line.ids.empty()) {
    out_.raw(", ");
    out_.raw(line.ids);
  }
  micros("ts",
         static_cast<std::int64_t>(static_cast<std::uint64_t>(line.start_ns) - static_cast<std::uint64_t>(base_ns_)));
  if (line.duration_ns) micros("dur", *line.duration_ns);
  if (line.id) {
    out_.raw(", \"id\": ");
    out_.number(*line.id);
  }
  if (line.scope != 0) member("s", {&line.scope, 1});
  if (line.encloses) out_.raw(", \"bp\": \"e\"");
  arguments(line);
  out_.raw("}");
}

void KinetoText::member(std::string_view key, std::string_view text) {
  out_.raw(", \"");
  out_.raw(key);
  out_.raw("\": ");
  json_string(out_, text);
}

void KinetoText::micros(std::string_view key, std::int64_t ns) {
  out_.raw(", \"");
  out_.raw(key);
  out_.raw(ns < 0 ? "\": -" : "\": ");
  out_.micros(ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns));
}

void KinetoText::arguments(const KinetoLine& line) {
  if (line.args.empty() && line.more_args.empty()) return;
  out_.raw(", \"args\": {");
  out_.raw(line.args);
  if (!line.args.empty() && !line.more_args.empty()) out_.raw(", ");
  out_.raw(line.more_args);
  out_.raw("}");
}

namespace {

void add_member(std::string& args, std::string_view key, std::string_view json_value) {
  if (!args.empty()) args += ", ";
  args.append("\"").append(key).append("\": ").append(json_value);
}

void add_number(std::string& args, std::string_view key, std::uint64_t value) {
  char digits[20];
  add_member(args, key, {digits, static_cast<std::size_t>(put_digits(digits, value) - digits)});
}

void add_bandwidth(const Event& event, std::string& args) {
  if (event.duration_ns <= 0) return;
  const double gb_per_s = static_cast<double>(event.bytes) / static_cast<double>(event.duration_ns);
  add_member(args, "memory bandwidth (GB/s)", fmt::format("{}", gb_per_s));
}

// What the driver allocated, by the names that PyTorch's allocator has for what it did. Its totals are not known.
void memory_instant(KinetoLine& line, const Event& event, const MemoryFacts& facts, std::string& args) {
  const bool host = is_host_memory(facts.memory);
  add_member(args, "operation", json_quoted(line.name));
  add_member(args, "Bytes", fmt::format("{}{}", facts.is_release() ? "-" : "", event.bytes));
  add_member(args, "Addr", fmt::format("{}", facts.address));
  add_member(args, "Device Type", host ? "0" : "1");
  add_member(args, "Device Id", host ? "-1" : fmt::format("{}", facts.device));
  line.name = "[memory]";
}

}  // namespace

std::string_view kineto_category(const Event& event) {
  if (event.phase == 'i') return info(Kind::instant).category;
  switch (event.kind) {
    case Kind::nvtx:
    case Kind::nccl:
      return info(Kind::user_annotation).category;
    case Kind::graph:
      return info(Kind::kernel).category;
    default:
      return info(event.kind).category;
  }
}

void KinetoRecording::complete(const Event& event, const Facts& facts, KinetoLine& line) {
  args_.clear();
  line.category = kineto_category(event);
  if (event.phase == 'i') line.scope = 't';
  add_correlation(event);
  if (contents_.ranges) add_external_id(event);
  const MemoryFacts* const memory = facts.get<MemoryFacts>();
  if (memory != nullptr && memory->is_known()) {
    memory_instant(line, event, *memory, args_);
  } else if (event.has_bytes) {
    add_number(args_, "bytes", event.bytes);
    if (event.kind == Kind::memcpy || event.kind == Kind::memset) add_bandwidth(event, args_);
  }
  if (event.phase == 'X' && event.duration_ns < 0) add_member(args_, "unfinished", "true");
  if (event.open_start) add_member(args_, "open_start", "true");
  if (const std::string call = collectives_.event(event, facts); !call.empty()) {
    args_ += (args_.empty() ? "" : ", ") + call;
  }
  line.more_args = args_;
}

void KinetoRecording::note(const Event& event, const Facts& facts) {
  if (event.kind == Kind::runtime) is_inner_call(event);
  if (contents_.ranges) external_ids_.of(event);
  forward_of(event, facts, {});
  collectives_.event(event, facts);
}

// Kineto has one call for each correlation. HTA joins every event with every other of the same one, so that its tables
// would hold work twice that has two calls; so what only belongs to a call names it by another key.
void KinetoRecording::add_correlation(const Event& event) {
  if (event.correlation == 0) return;
  const bool joins = is_gpu_work(event.kind) || event.kind == Kind::sync || event.kind == Kind::cuda_event ||
                     (is_api_call(event.kind) && !is_inner_call(event));
  add_number(args_, joins ? "correlation" : "call correlation", event.correlation);
}

// TensorBoard's plugin gives calls without any to its first module; 0 says that they are of no operator.
void KinetoRecording::add_external_id(const Event& event) {
  const std::uint64_t id = external_ids_.of(event);
  if (id != 0 || (contents_.operators && (is_api_call(event.kind) || is_gpu_work(event.kind)))) add_number(args_, "External id", id);
}

// The driver's call in the runtime's has its correlation; the outer one comes first.
bool KinetoRecording::is_inner_call(const Event& event) {
  if (event.kind == Kind::runtime) {
    calls_[event.track] = event.correlation;
    return false;
  }
  const auto outer = calls_.find(event.track);
  return outer != calls_.end() && outer->second == event.correlation;
}

}  // namespace cli
