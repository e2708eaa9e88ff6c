// The top-level members of a Kineto file that we use. They may stand before or after the events.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/read/json_stream.h"

namespace cli {

struct KinetoHeader {
  std::optional<std::int64_t> base_ns;               // baseTimeNanoseconds: what every ts is relative to
  std::int64_t rank = -1, world_size = -1;           // distributedInfo
  std::string host;                                  // host_name
  std::map<std::int64_t, std::string> device_names;  // deviceProperties
  std::string members;                               // Process::kineto_header
  std::vector<std::string> left_out;                 // keys of members that are not in `members`: too large

  // Takes the value of member `key`, which is next in `stream`, whether it is of use or not. Throws Error.
  void take(JsonStream& stream, std::string_view key);

 private:
  void use(JsonStream& stream, std::string_view key, std::string_view text);
  void keep(std::string_view key, std::string_view text);
};

inline constexpr std::size_t kMaxHeaderBytes = 4 << 20;  // of KinetoHeader::members

// Reads all of the file but the events' insides. Throws Error.
KinetoHeader scan_kineto_header(const std::string& path);

}  // namespace cli
