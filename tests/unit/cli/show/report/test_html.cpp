// Markup and text of a page: what a stranger wrote never becomes markup.
#include <string>

#include "cli/show/report/html.h"
#include "cli/show/report/page.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::report;

TEST_CASE("report: what has a meaning in HTML is text", "[report]") {
  CHECK(html_text("a<b>&\"c\"'d'") == "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
  CHECK(html_text("</script><!-- ]]>") == "&lt;/script&gt;&lt;!-- ]]&gt;");
  CHECK(html_text("&lt;") == "&amp;lt;");
  CHECK(html_text("") == "");
}

TEST_CASE("report: what cannot be shown, or misleads, is escaped", "[report]") {
  CHECK(html_text("a\nb\x1b\xff\xE2\x80\xAE<") == "a\\nb\\x1b\\xff\\u202e&lt;");
}

TEST_CASE("report: values of attributes are escaped", "[report]") {
  Html page;
  page.element("td", {{"title", "\"><img>"}, {"data-v", 7}, {"x", 1.5}}, "<b>");
  page.empty("rect", {{"width", 2.0}, {"y", -0.001}});
  CHECK(page.all() ==
        "<td title=\"&quot;&gt;&lt;img&gt;\" data-v=\"7\" x=\"1.5\">&lt;b&gt;</td><rect width=\"2\" y=\"0\"/>");
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
