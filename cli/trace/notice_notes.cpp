#include "cli/trace/notice_notes.h"

#include <fmt/format.h>

#include <map>

#include "cli/trace/device_words.h"
#include "cli/trace/rank_list.h"

namespace cli {
namespace {

struct Noticed {
  std::vector<std::int64_t> ranks;
  std::string text;  // of the first notice
};

// Returns whether no data is missing because of this notice.
bool is_missing_nothing(trace::NoticeCode code) {
  return code == trace::NoticeCode::source_on || code == trace::NoticeCode::clock_changed || code == trace::NoticeCode::hang;
}

}  // namespace

std::vector<std::string> notice_notes(const Catalog& catalog) {
  std::map<trace::NoticeCode, Noticed> all;
  for (const Process& process : catalog.processes) {
    for (const Notice& notice : process.notices) {
      if (is_missing_nothing(notice.code)) continue;
      Noticed& noticed = all[notice.code];
      if (noticed.text.empty()) noticed.text = notice.text;
      noticed.ranks.push_back(process.rank);
    }
  }
  std::vector<std::string> notes;
  for (auto& [code, noticed] : all) {
    notes.push_back(fmt::format("{}: {}{}{} (`tracetool info` prints the times)", rank_list(std::move(noticed.ranks)), word(code), noticed.text.empty() ? "" : ": ",
                                noticed.text));
  }
  return notes;
}

}  // namespace cli
