#include "cli/formats/json/json_context.h"

#include <algorithm>
#include <array>

#include "cli/trace/characters.h"

namespace cli {
namespace {

constexpr std::size_t kLongestKey = 64;
constexpr std::size_t npos = std::string_view::npos;

constexpr std::array<std::string_view, 20> kEventKeys{"ph",    "cat", "name",    "pid",     "tid",      "ts",  "dur",
                                                      "args",  "id",  "bp",      "tts",     "cname",    "s",   "sf",
                                                      "scope", "id2", "bind_id", "flow_in", "flow_out", "tdur"};

constexpr std::array<std::string_view, 20> kMembers{
    "traceEvents",         "baseTimeNanoseconds", "distributedInfo", "deviceProperties", "displayTimeUnit",
    "traceName",           "schemaVersion",       "host_name",       "trace_id",         "record_shapes",
    "with_stack",          "with_flops",          "with_modules",    "profile_memory",   "cuda_runtime_version",
    "cuda_driver_version", "systemTraceEvents",   "stackFrames",     "otherData",        "metadata"};


template <std::size_t N>
bool among(const std::array<std::string_view, N>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

std::size_t after_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_json_space(text[at])) ++at;
  return at;
}

char before(std::string_view text, std::size_t at) {
  const std::size_t stop = at > kLookBehind ? at - kLookBehind : 0;
  while (at > stop && is_json_space(text[at - 1])) --at;
  return at > stop ? text[at - 1] : '\0';
}

bool is_inside(std::string_view text, std::size_t at) {
  const char last = before(text, at);
  return last == ':' || last == '[';
}

std::string_view key_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '"') return {};
  const std::size_t quote = text.substr(0, std::min(text.size(), at + 2 + kLongestKey)).find('"', at + 1);
  if (quote == npos) return {};
  const std::size_t colon = after_space(text, quote + 1);
  const std::string_view key = text.substr(at + 1, quote - at - 1);
  const bool plain = std::all_of(key.begin(), key.end(), [](char c) { return c >= ' ' && c != '\\'; });
  return plain && colon < text.size() && text[colon] == ':' ? key : std::string_view{};
}

bool is_event_key(std::string_view key) { return among(kEventKeys, key); }

bool is_known_member(std::string_view key) { return among(kMembers, key); }

}  // namespace cli
