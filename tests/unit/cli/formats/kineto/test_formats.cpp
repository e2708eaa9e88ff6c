#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "cli/formats/inputs/input_formats.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;

TEST_CASE("JSON is known by its content, not by its name") {
  const TestFolder folder;
  for (const char* text : {"[]", "  \n{\"traceEvents\":[]}", "\xef\xbb\xbf[]"}) {
    KeptTrace trace;
    open_trace(folder.write("any.name", text))->read(trace.catalog, trace);
    CHECK(trace.process().format == SourceFormat::kineto);
  }
}

TEST_CASE("standard input may be a file or a pipe") {
  const TestFolder folder;
  const int kept = ::dup(STDIN_FILENO);
  const auto read_from = [](int fd) {
    ::dup2(fd, STDIN_FILENO);
    ::close(fd);
    KeptTrace trace;
    open_trace("-")->read(trace.catalog, trace);
    return trace.events.size();
  };
  const std::string text = R"([{"ph":"i","name":"a","pid":1,"tid":1,"ts":1}])";
  CHECK(read_from(::open(folder.write("x", text).c_str(), O_RDONLY)) == 1);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  CHECK(read_from(ends[0]) == 1);
  ::dup2(kept, STDIN_FILENO);
  ::close(kept);
}

TEST_CASE("what is no trace is refused before it is read") {
  const TestFolder folder;
  const auto message = [&](std::string_view text) {
    return message_of([&] { open_trace(folder.write("x.json", text)); });
  };
  CHECK(message("").find("x.json: the file is empty; expected a recording") != std::string::npos);
  CHECK(message("hello").find("x.json: byte 0: not a trace; expected a recording") != std::string::npos);
  CHECK(message("PK\x03\x04").find("not a trace") != std::string::npos);
  CHECK(message_of([&] { open_trace((folder.path() / "none").string()); }).find("cannot open") != std::string::npos);
  CHECK(message_of([&] { open_trace(folder.path().string()); }).find("directory") != std::string::npos);
}
