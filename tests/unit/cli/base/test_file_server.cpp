#include <string>

#include "cli/base/file_server.h"
#include "tests/unit/catch.h"

using cli::FileServer;

TEST_CASE("a file server answers to the whole address alone, whatever comes") {
  FileServer server(0);
  server.open({"/dev/null", "a.html", "text/html", ""});
  const std::string path = server.address().substr(server.address().find('/', 7));
  bool has_content = false;
  CHECK(server.answer("GET " + path + " HTTP/1.1\r\n\r\n", has_content).starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(has_content);
  CHECK(server.answer("GET " + path + "?referrer=x HTTP/1.1\r\n\r\n", has_content).starts_with("HTTP/1.1 200 OK\r\n"));
  for (const std::string& request : {std::string(), std::string(" "), std::string("GET"), std::string("GET "),
                                     "GET" + path, "GET " + path + "x HTTP/1.1", path, "get " + path + " HTTP/1.1",
                                     "GET  " + path + " HTTP/1.1", std::string("\0 \0", 3), "GET //" + path}) {
    INFO(request);
    const std::string answer = server.answer(request, has_content);
    CHECK((answer.starts_with("HTTP/1.1 404 ") || answer.starts_with("HTTP/1.1 405 ")));
    CHECK(answer.ends_with("\r\n\r\n"));
    CHECK_FALSE(has_content);
  }
}
