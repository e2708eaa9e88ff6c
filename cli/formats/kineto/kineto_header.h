// The top-level members of a Kineto file that we use. They may stand before or after the events.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/json/json_stream.h"

namespace cli {

// Kineto counts from the quarter's or the year's begin; 2001-09-09 in microseconds since 1970 is 31 years later.
inline constexpr std::int64_t kSurelyAbsoluteNs = 1'000'000'000'000'000'000;

struct KinetoHeader {
  std::optional<std::int64_t> base_ns;               // baseTimeNanoseconds: what every ts is relative to
  std::int64_t rank = -1, world_size = -1;           // distributedInfo
  bool ranks_differ = false;                         // in several of these: files of several ranks were put into one
  std::string host;                                  // host_name
  std::map<std::int64_t, std::string> device_names;  // deviceProperties
  std::string members;                               // Process::kineto_header
  std::vector<std::string> left_out;                 // keys of members that are not in `members`: too large

  // Takes the value of member `key`, which is next in `stream`, whether it is of use or not. What is damaged is
  // left out and said in stream.damage().
  void take(JsonStream& stream, std::string_view key);

  // A member was seen by which this is known to be a profiler's file.
  bool is_of_a_trace() const { return known_member_; }

 private:
  bool use(std::string_view key, std::string_view text, bool good);
  void keep(std::string_view key, std::string_view text);

  bool known_member_ = false;
};

inline constexpr std::size_t kMaxHeaderBytes = JsonStream::kMaxMember;  // of KinetoHeader::members

// Reads the whole file. Throws Error.
KinetoHeader scan_kineto_header(const std::string& path);

}  // namespace cli
