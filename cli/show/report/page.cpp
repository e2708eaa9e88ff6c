#include "cli/show/report/page.h"

#include <algorithm>
#include <limits>
#include <map>

#include "cli/answers/tables/analysis_table.h"
#include "cli/answers/tables/summary.h"
#include "cli/base/text.h"
#include "cli/formats/reading/devices.h"
#include "cli/show/report/fills.h"
#include "cli/timeline/merge/missing_data.h"
#include "cli/trace/catalog.h"
#include "cli/trace/ranks.h"

namespace cli::report {

namespace {

// The timeline comes after this section.
constexpr std::string_view kTimelineBehind = "findings";

bool is_shown(const SectionEntry& section, const ReportFacts& facts) {
  return section.applies == nullptr || section.applies(facts);
}

void write_page_head(Html& page, std::string_view title) {
  page.markup("<!DOCTYPE html>\n<html lang=\"en\">");
  const Element in_head(page, "head");
  page.empty("meta", {{"charset", "utf-8"}});
  page.empty(
      "meta",
      {{"http-equiv", "Content-Security-Policy"},
       {"content",
        fmt::format(
            "default-src 'none'; img-src data:; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
            kPageStyleHash, kPageScriptHash)}});
  page.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  page.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  page.empty("link", {{"rel", "icon"}, {"href", "data:,"}});
  page.element("title", title);
  const Element in_style(page, "style");
  page.markup(kPageStyle);
}

void write_contents(Html& page, const ReportFacts& facts) {
  const Element in_nav(page, "nav", {{"aria-label", "Sections"}});
  const auto link = [&](std::string_view id, std::string_view title) {
    page.element("a", {{"href", fmt::format("#{}", id)}}, title);
  };
  for (const SectionEntry& section : sections()) {
    if (is_shown(section, facts)) link(section.id, section.title);
    if (section.id == kTimelineBehind && !facts.timeline.empty()) link("timeline", "Timeline");
  }
}

void write_sections(Html& page, const ReportFacts& facts) {
  for (const SectionEntry& section : sections()) {
    if (is_shown(section, facts)) {
      page.open("section", {{"id", section.id}});
      page.element("h2", section.title);
      section.write(facts, page);
      page.close("section");
      page.markup("\n");
    }
    if (section.id == kTimelineBehind) page.markup(facts.timeline);
  }
}

void write_notes(Html& page, const ReportFacts& facts) {
  if (facts.notes.empty()) return;
  const Element in_ul(page, "ul", {{"class", "notes"}});
  for (const std::string& note : facts.notes) page.element("li", note);
}

constexpr std::size_t kMostNames = 4;
constexpr std::int64_t kYear2000_ns = 946'684'800'000'000'000;  // earlier times come from a clock that starts at 0

std::vector<const Process*> shown_processes(const ReportFacts& facts) {
  const std::vector<bool> beside = beside_ranks(facts.catalog);
  std::vector<const Process*> shown;
  for (ProcessId id = 0; id < facts.catalog.processes.size(); ++id) {
    if (facts.chosen[id] && !beside[id]) shown.push_back(&facts.catalog.processes[id]);
  }
  return shown;
}

std::string first_names(const std::set<std::string>& names) {
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (name.empty() || ++count > kMostNames) continue;
    text += (text.empty() ? "" : ", ") + name;
  }
  return count > kMostNames ? fmt::format("{} and {} more", text, count - kMostNames) : text;
}

std::set<std::string> names_of(const std::vector<const Process*>& processes, std::string Process::*name) {
  std::set<std::string> names;
  for (const Process* process : processes) names.insert(process->*name);
  names.erase("");
  return names;
}

// Returns text such as "8 x NVIDIA H100 80GB HBM3".
std::string gpus_text(const ReportFacts& facts, const std::vector<const Process*>& processes) {
  const TableReading gpus(facts.tables, "temporal");
  std::set<std::pair<std::int64_t, std::int64_t>> different;  // several files of one rank have the same GPU
  for (std::size_t row = 0; row < gpus.rows(); ++row) {
    if (const auto device = gpus.get<std::int64_t>(row, "device"))
      different.emplace(gpus.get<std::int64_t>(row, "rank").value_or(-1 - static_cast<std::int64_t>(row)), *device);
  }
  if (different.empty()) return "";
  const std::set<std::string> names = names_of(processes, &Process::device_name);
  if (names.empty()) return fmt::format("{}", different.size());
  return fmt::format("{} \u00d7 {}", different.size(), first_names(names));
}

std::string ranks_text(const std::vector<const Process*>& processes) {
  std::vector<std::int64_t> ranks;
  std::int64_t world = -1;
  for (const Process* process : processes) {
    if (process->rank >= 0) ranks.push_back(process->rank);
    world = std::max(world, process->world_size);
  }
  if (ranks.empty()) return "";
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const std::string list = number_list(ranks);
  return world > 0 ? fmt::format("{} of {}", list, world) : list;
}

std::string recorded_text(const std::vector<const Process*>& processes) {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max(), last_ns = std::numeric_limits<std::int64_t>::min();
  for (const Process* process : processes) {
    if (total(process->counts) == 0) continue;
    first_ns = std::min(first_ns, process->first_ns);
    last_ns = std::max(last_ns, process->last_ns);
  }
  if (first_ns > last_ns) return "";
  const std::string length = duration_text(last_ns - first_ns);
  return first_ns < kYear2000_ns ? length : fmt::format("{}, {}", time_text(first_ns), length);
}

std::string steps_text(const ReportFacts& facts) {
  const TableReading steps(facts.tables, "steps");
  std::set<std::int64_t> numbers;
  for (std::size_t row = 0; row < steps.rows(); ++row) numbers.insert(steps.number(row, "step"));
  if (numbers.empty()) return "";
  const std::set<std::int64_t> warm_ups = warm_up_numbers(facts.tables);
  std::string text = number_list({numbers.begin(), numbers.end()});
  if (!warm_ups.empty()) text += fmt::format(" (warm-up: {})", number_list({warm_ups.begin(), warm_ups.end()}));
  return text;
}

std::string software_lines(const ReportFacts& facts, const std::vector<const Process*>& processes) {
  std::map<std::string, std::size_t> known;
  for (const Process* process : processes) {
    if (const std::string text = software_text(*process); !text.empty()) ++known[text];
  }
  std::string lines = facts.recorder.substr(0, facts.recorder.find_last_not_of('\n') + 1);
  std::ranges::replace(lines, '\n', ';');
  for (const auto& [text, count] : known) lines += (lines.empty() ? "" : "; ") + text;
  return lines;
}

}  // namespace

void open_page(Html& page, std::string_view title) {
  write_page_head(page, title);
  page.open("body");
  write_patterns(page);
}

void close_page(Html& page) {
  page.open("script");
  page.markup(kPageScript);
  page.close("script");
  page.close("body");
  page.markup("</html>\n");
}

std::string page_html(std::string_view title, const ReportFacts& facts) {
  Html page;
  open_page(page, title);
  page.open("header");
  page.element("h1", title);
  write_head_facts(page, facts);
  write_contents(page, facts);
  page.close("header");
  page.open("main");
  write_sections(page, facts);
  write_notes(page, facts);
  page.close("main");
  close_page(page);
  return page.all();
}

void write_head_facts(Html& page, const ReportFacts& facts) {
  const std::vector<const Process*> processes = shown_processes(facts);
  const Element in_dl(page, "dl", {{"class", "head"}});
  const auto term = [&](std::string_view name, const std::string& text) {
    if (text.empty()) return;
    page.open("div");
    page.element("dt", name);
    page.element("dd", text);
    page.close("div");
  };
  term("missing", whole_graphs(facts.catalog));
  term("GPUs", gpus_text(facts, processes));
  term("ranks", ranks_text(processes));
  term("hosts", first_names(names_of(processes, &Process::host)));
  term("program", first_names(names_of(processes, &Process::program)));
  term("recorded", recorded_text(processes));
  term("steps", steps_text(facts));
  term("versions", software_lines(facts, processes));
}

}  // namespace cli::report
