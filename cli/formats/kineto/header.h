// Reads the top-level members of a Kineto file that are used. They may be before or after the events.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/json/file_kind.h"
#include "cli/formats/json/json_stream.h"
#include "cli/trace/catalog.h"

namespace cli::kineto {

// Kineto counts from the beginning of a quarter or year; 2001-09-09 in microseconds since 1970 is 31 years later.
inline constexpr std::int64_t kSurelyAbsoluteNs = 1'000'000'000'000'000'000;

struct Header {
  std::optional<std::int64_t> base_ns;      // baseTimeNanoseconds, to which every ts is relative
  std::int64_t rank = -1, world_size = -1;  // distributedInfo
  bool ranks_differ = false;  // several of these with different ranks: the file was joined from files of several ranks
  std::string host;           // host_name
  std::map<std::int64_t, std::string> device_names;  // deviceProperties
  std::string members;                               // Process::kineto_header
  std::vector<std::string> left_out;                 // keys of members not in `members` because they are too large

  // Reads the value of member `key`, which is next in `stream`, and keeps it if it is used. Damaged values are skipped
  // and reported in stream.damage().
  void take(JsonStream& stream, std::string_view key);

  // Returns true if a member was found that identifies a profiler's file.
  bool is_of_a_trace() const { return known_member_; }

 private:
  bool use(std::string_view key, std::string_view text, bool good);
  void keep(std::string_view key, std::string_view text);

  bool known_member_ = false;
};

inline constexpr std::size_t kMaxHeaderBytes = JsonStream::kMaxMember;  // limit of Header::members

// Reads the whole file. Throws Error.
Header scan_header(const std::string& path);

// Writes the members before the events of a Kineto profile.

// Returns the base of the written times of this process, ns since 1970. For a Kineto file it is its own base, or 0 if
// it had none. For recordings it is the beginning of Kineto's current interval (libkineto's output_json.h: a fixed
// quarter of a year since 1970), the same for all processes of the trace.
std::int64_t kineto_base_ns(const Catalog& catalog, const Process& process);

// Returns the text from `{` to the bracket that opens the events. The members of a Kineto file are copied verbatim. HTA
// finds the rank by the pattern `"rank":\s+\d+`; if that would find none, or another number, the rank is written before
// them.
std::string kineto_head(const Catalog& catalog, const Process& process);

// Returns the text from the bracket that closes the events.
std::string kineto_tail(const Process& process);

// Properties of a JSON file that are known before its first event: whether it is a trace, its writer and its time.
// Reads a window or two of a trace, and all of a file that is none.
struct Peek {
  bool is_trace = false;
  ExportMark mark;
  std::optional<std::int64_t> start_ns;  // of the first event with a time; nullopt if the base follows the events
};

// Throws Error (cannot_open; bad_content if the text is no JSON from the first byte on).
Peek peek(const std::string& path);

}  // namespace cli::kineto
