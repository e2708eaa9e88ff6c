// What matters, in three sentences.
#include <cctype>

#include "cli/answers/tables/summary.h"
#include "cli/show/report/section.h"

namespace cli {
namespace {

// As a sentence begins.
std::string begun(std::string sentence) {
  if (!sentence.empty()) sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  return sentence;
}

void write_summary(const ReportFacts& facts, Html& page) {
  for (std::string& sentence : summary_sentences(facts.tables)) page.element("p", {{"class", "sentence"}}, begun(std::move(sentence)));
}

}  // namespace

SectionEntry summary_section() { return {"summary", "Summary", {"temporal", "steps", "stragglers"}, write_summary}; }

}  // namespace cli
