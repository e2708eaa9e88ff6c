#include "cli/show/report/page.h"

#include <fmt/format.h>

#include "cli/base/units.h"
#include "cli/show/report/fills.h"
#include "cli/show/report/head.h"
#include "cli/show/report/page_files.h"
#include "cli/show/report/section.h"

namespace cli {
namespace {

// Where the timeline stands among the sections: behind this one.
constexpr std::string_view kTimelineBehind = "findings";

bool is_shown(const SectionEntry& section, const ReportFacts& facts) { return section.applies == nullptr || section.applies(facts); }

void write_page_head(Html& page, std::string_view title) {
  page.markup("<!DOCTYPE html>\n<html lang=\"en\">");
  page.open("head");
  page.empty("meta", {{"charset", "utf-8"}});
  page.empty("meta", {{"http-equiv", "Content-Security-Policy"},
                      {"content", fmt::format("default-src 'none'; img-src data:; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
                                              kPageStyleHash, kPageScriptHash)}});
  page.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  page.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  page.empty("link", {{"rel", "icon"}, {"href", "data:,"}});
  page.element("title", title);
  page.open("style");
  page.markup(kPageStyle);
  page.close("style");
  page.close("head");
}

void write_contents(Html& page, const ReportFacts& facts) {
  page.open("nav", {{"aria-label", "Sections"}});
  const auto link = [&](std::string_view id, std::string_view title) { page.element("a", {{"href", fmt::format("#{}", id)}}, title); };
  for (const SectionEntry& section : sections()) {
    if (is_shown(section, facts)) link(section.id, section.title);
    if (section.id == kTimelineBehind && !facts.timeline.empty()) link("timeline", "Timeline");
  }
  page.close("nav");
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
  page.open("ul", {{"class", "notes"}});
  for (const std::string& note : facts.notes) page.element("li", note);
  page.close("ul");
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

}  // namespace cli
