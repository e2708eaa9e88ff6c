// The top-level members of a Kineto file that we use. They may stand before or after the events.
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

// Kineto counts from the quarter's or the year's begin; 2001-09-09 in microseconds since 1970 is 31 years later.
inline constexpr std::int64_t kSurelyAbsoluteNs = 1'000'000'000'000'000'000;

struct Header {
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

inline constexpr std::size_t kMaxHeaderBytes = JsonStream::kMaxMember;  // of Header::members

// Reads the whole file. Throws Error.
Header scan_header(const std::string& path);

// The members before the events of a Kineto profile.

// What the times of this process are written relative to, ns since 1970: for a Kineto file its own base, 0 where it had
// none; for recordings the begin of Kineto's current interval (libkineto's output_json.h: a fixed quarter of a year
// since 1970), the same for all processes of the trace.
std::int64_t kineto_base_ns(const Catalog& catalog, const Process& process);

// From `{` to the bracket that opens the events. A Kineto file's own members come back as they stood; HTA reads the
// rank by the pattern `"rank":\s+\d+`, so it is put before them where that would find none, or another.
std::string kineto_head(const Catalog& catalog, const Process& process);

// From the bracket that closes the events on.
std::string kineto_tail(const Process& process);

// What a JSON file says of itself before its first event: is it a trace, who wrote it, and of when. Reads a window or two
// of a trace, and the whole of what is none.
struct Peek {
  bool is_trace = false;
  ExportMark mark;
  std::optional<std::int64_t> start_ns;  // of the first event with a time; unknown where its base stands behind it
};

// Throws Error (cannot_open; bad_content where the text is no JSON from its first byte on).
Peek peek(const std::string& path);

}  // namespace cli::kineto
