// States, and the words for them in tables and JSON.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cli {

// Of a recording (common/FORMAT.md). Of a Kineto file: clean, or recovered where it is damaged.
enum class RecordingState : std::uint8_t { unknown, live, clean, recovered };

// Where the number of a rank is from.
enum class RankSource : std::uint8_t { unknown, content, file_name, option };

enum class RecordingMode : std::uint8_t { unknown, ring, spool };

namespace words {
inline constexpr std::string_view kStates[] = {"unknown", "live", "clean", "recovered"};
inline constexpr std::string_view kRankSources[] = {"", "content", "file name", "--rank"};
inline constexpr std::string_view kModes[] = {"", "ring", "spool"};

// The first for what is newer than we are.
template <std::size_t Size, typename State>
constexpr std::string_view of(const std::string_view (&words)[Size], State state) {
  const auto index = static_cast<std::size_t>(state);
  return words[index < Size ? index : 0];
}
}  // namespace words

constexpr std::string_view word(RecordingState state) { return words::of(words::kStates, state); }
constexpr std::string_view word(RankSource source) { return words::of(words::kRankSources, source); }
constexpr std::string_view word(RecordingMode mode) { return words::of(words::kModes, mode); }

}  // namespace cli
