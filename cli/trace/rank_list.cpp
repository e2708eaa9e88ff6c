#include "cli/trace/rank_list.h"

#include <algorithm>

namespace cli {
namespace {

// The run of neighbours that begins at `from`; moves it behind.
std::string take_run(const std::vector<std::int64_t>& ranks, std::size_t& from) {
  const std::size_t first = from++;
  while (from < ranks.size() && ranks[from] == ranks[from - 1] + 1) ++from;
  const std::string text = std::to_string(ranks[first]);
  return from - first == 1 ? text : text + '-' + std::to_string(ranks[from - 1]);
}

}  // namespace

std::string number_list(std::vector<std::int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string text;
  for (std::size_t at = 0; at < numbers.size();) {
    if (at != 0) text += ", ";
    text += take_run(numbers, at);
  }
  return text;
}

std::string rank_list(std::vector<std::int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const bool unknown = !ranks.empty() && ranks[0] < 0;
  ranks.erase(ranks.begin(), std::lower_bound(ranks.begin(), ranks.end(), 0));
  std::string text = ranks.empty() ? "" : ranks.size() == 1 ? "rank " : "ranks ";
  text += number_list(ranks);
  if (unknown) text += text.empty() ? "unknown ranks" : ", unknown ranks";
  return text;
}

std::string of_rank(std::int64_t rank) { return rank < 0 ? "" : " of rank " + std::to_string(rank); }

}  // namespace cli
