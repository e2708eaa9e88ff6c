// The rank that a file's name tells: rank3, rank-3, rank_3, worker3 (as written by torch.profiler's handlers).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace cli {

// Looks at the last part of `path` only. "rank" wins over "worker"; letters before the word ("frank3") or between it
// and the number ("workers_3") make it another word.
std::optional<std::int64_t> rank_in_file_name(std::string_view path);

}  // namespace cli
