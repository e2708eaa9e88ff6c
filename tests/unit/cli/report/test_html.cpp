// Markup and text of a page: what a stranger wrote never becomes markup.
#include "cli/report/html.h"

#include <string>

#include "cli/report/page_files.h"
#include "tests/unit/catch.h"

using namespace cli;

TEST_CASE("report: what has a meaning in HTML is text", "[report]") {
  CHECK(html_text("a<b>&\"c\"'d'") == "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
  CHECK(html_text("</script><!-- ]]>") == "&lt;/script&gt;&lt;!-- ]]&gt;");
  CHECK(html_text("&lt;") == "&amp;lt;");
  CHECK(html_text("") == "");
}

TEST_CASE("report: what cannot be shown, or misleads, is replaced", "[report]") {
  const std::string replaced = "\xEF\xBF\xBD";
  for (int byte = 0; byte < 0x20; ++byte) {
    const char c = static_cast<char>(byte);
    CHECK(visible_text(std::string_view(&c, 1)) == (c == '\n' || c == '\t' ? std::string(1, c) : replaced));
  }
  CHECK(visible_text("\x7f") == replaced);
  CHECK(visible_text("\xff") == replaced);
  CHECK(visible_text("\xC2\x85" "a") == replaced + "a");        // U+0085
  CHECK(visible_text("\xC2\xA0") == "\xC2\xA0");                // a space that does not break
  CHECK(visible_text("\xE2\x80\xAE" "a") == replaced + "a");    // U+202E
  CHECK(visible_text("\xE2\x81\xA6") == replaced);              // U+2066
  CHECK(visible_text("\xE2\x80\x8E") == replaced);              // U+200E
  CHECK(visible_text("a\xD8\x9C" "b") == "a" + replaced + "b");  // U+061C
  CHECK(visible_text("\xD8\x9B") == "\xD8\x9B");              // U+061B, a letter's neighbour that is shown
  CHECK(visible_text("\xE2\x80\xA6") == "\xE2\x80\xA6");        // an ellipsis
  CHECK(visible_text("K\xC3\xA4se \xE6\xBC\xA2 \xF0\x9F\x98\x80") == "K\xC3\xA4se \xE6\xBC\xA2 \xF0\x9F\x98\x80");
  CHECK(visible_text("\xE2\x80") == replaced + replaced);  // a character that is cut: as json_text.h has it, each byte
}

TEST_CASE("report: values of attributes are escaped", "[report]") {
  Html page;
  page.element("td", {{"title", "\"><img>"}, {"data-v", 7}, {"x", 1.5}}, "<b>");
  page.empty("rect", {{"width", 2.0}, {"y", -0.001}});
  CHECK(page.all() == "<td title=\"&quot;&gt;&lt;img&gt;\" data-v=\"7\" x=\"1.5\">&lt;b&gt;</td><rect width=\"2\" y=\"0\"/>");
}

TEST_CASE("report: coordinates are short", "[report]") {
  CHECK(coordinate(0) == "0");
  CHECK(coordinate(100) == "100");
  CHECK(coordinate(12.345) == "12.35");
  CHECK(coordinate(12.3) == "12.3");
  CHECK(coordinate(-3.10) == "-3.1");
}

TEST_CASE("report: the page's own files are in the program", "[report]") {
  CHECK(kPageStyle.find("--terrible") != std::string_view::npos);
  CHECK(kPageScript.find("beforeprint") != std::string_view::npos);
  CHECK(kPageStyle.find("</") == std::string_view::npos);
  CHECK(kPageScript.find("</script") == std::string_view::npos);
  for (const std::string_view hash : {kPageStyleHash, kPageScriptHash}) {
    CHECK(hash.starts_with("'sha256-"));
    CHECK(hash.size() == std::string_view("'sha256-'").size() + 44);  // 32 bytes in base64
  }
}
