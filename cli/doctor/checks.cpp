#include "cli/doctor/checks.h"

#include <algorithm>
#include <charconv>

#include "cli/base/json_text.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/trace/ranks.h"

namespace cli::doctor {

namespace {

constexpr std::string_view kWords[] = {"OK", "WARN", "FAIL"};
constexpr Color kColors[] = {Color::green, Color::yellow, Color::red};
constexpr std::string_view kKeys[] = {"ok", "warn", "fail"};
constexpr std::string_view kRank = "rank ";

std::string_view word(Level level) { return kWords[static_cast<std::size_t>(level)]; }

bool same(const CheckResult& a, const CheckResult& b) {
  if (a.level != b.level || a.check != b.check || a.series != b.series) return false;
  return !a.series.empty() || (a.what == b.what && a.next == b.next);
}

bool take_rank(const std::string& who, std::int64_t& rank) {
  if (who.rfind(kRank, 0) != 0) return false;
  const char* end = who.data() + who.size();
  return std::from_chars(who.data() + kRank.size(), end, rank).ptr == end;
}

std::string joined(const std::vector<std::string>& all) {
  std::vector<std::int64_t> ranks;
  std::string text;
  for (const std::string& who : all) {
    std::int64_t rank = -1;
    if (take_rank(who, rank)) {
      ranks.push_back(rank);
    } else if (!who.empty()) {
      text += (text.empty() ? "" : ", ") + who;
    }
  }
  if (ranks.empty()) return text;
  return rank_list(std::move(ranks)) + (text.empty() ? "" : ", " + text);
}

}  // namespace

CheckResults grouped(const CheckResults& results) {
  CheckResults out;
  std::vector<std::vector<std::string>> who;
  for (const CheckResult& result : results) {
    const auto known = std::ranges::find_if(out, [&](const CheckResult& f) { return same(f, result); });
    if (known == out.end()) {
      out.push_back(result);
      who.push_back({result.who});
      continue;
    }
    who[static_cast<std::size_t>(known - out.begin())].push_back(result.who);
    if (result.amount > known->amount) *known = result;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i].series.empty() && who[i].size() > 1) out[i].what += fmt::format(" (the most: {})", out[i].who);
    out[i].who = joined(who[i]);
  }
  return out;
}

std::string findings_text(const CheckResults& results) {
  std::string text;
  for (const CheckResult& f : results) {
    text += colored(fmt::format("{:<4}", word(f.level)), kColors[static_cast<std::size_t>(f.level)]);
    add_line(text, "  {:<10}  {}{}{}{}{}", f.check, f.who, f.who.empty() ? "" : ": ", f.what,
             f.next.empty() ? "" : " -> ", f.next);
  }
  return text;
}

void write_findings(const CheckResults& results, ByteSink& sink) {
  write_json(sink, [&](JsonWriter& json) {
    json.array("findings", results, [&](const CheckResult& f) {
      json.object({}, "level", kKeys[static_cast<std::size_t>(f.level)], "check", f.check, "who", f.who, "what", f.what,
                  "next", f.next);
    });
    json.number("failed", std::ranges::count(results, Level::fail, &CheckResult::level));
  });
}

void throw_if_failed(const CheckResults& results) {
  const auto failed = std::ranges::count(results, Level::fail, &CheckResult::level);
  if (failed == 0) return;
  const bool unreadable = std::ranges::any_of(
      results, [](const CheckResult& f) { return f.level == Level::fail && f.exit == Exit::bad_content; });
  throw Error(unreadable ? Exit::bad_content : Exit::gate_failed,
              fmt::format("{} of {} checks failed; follow the advice after ->", failed, results.size()));
}

}  // namespace cli::doctor
