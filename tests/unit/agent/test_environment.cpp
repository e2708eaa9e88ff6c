#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "agent/base/agent_settings.h"
#include "tests/unit/catch.h"

using agent::set_variable;

namespace {

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "none" : value;
}

std::size_t count_of(const std::string& name) {
  std::size_t count = 0;
  for (char** each = environ; *each != nullptr; ++each) count += std::string_view(*each).starts_with(name + "=");
  return count;
}

}  // namespace

TEST_CASE("a variable is set, and set again, beside other threads") {
  std::thread([] {}).join();  // from here on libc takes the process for one with threads
  set_variable("TEST_ENVIRONMENT", "one");
  CHECK(value_of("TEST_ENVIRONMENT") == "one");
  char** table = environ;
  const char* first = std::getenv("TEST_ENVIRONMENT");
  set_variable("TEST_ENVIRONMENT", "two");
  CHECK(value_of("TEST_ENVIRONMENT") == "two");
  CHECK(count_of("TEST_ENVIRONMENT") == 1);
  CHECK(environ != table);               // who reads the old one goes on reading it,
  CHECK(std::string(first) == "one");    // and what it found there
  setenv("TEST_ENVIRONMENT_2", "3", 1);  // the program's own go on working
  unsetenv("TEST_ENVIRONMENT");
  CHECK(value_of("TEST_ENVIRONMENT") == "none");
  CHECK(value_of("TEST_ENVIRONMENT_2") == "3");
  unsetenv("TEST_ENVIRONMENT_2");
}

TEST_CASE("no environment at all is one, too") {
  std::thread([] {}).join();
  char** table = environ;
  environ = nullptr;
  set_variable("TEST_ENVIRONMENT", "one");
  CHECK(value_of("TEST_ENVIRONMENT") == "one");
  CHECK(count_of("TEST_ENVIRONMENT") == 1);
  environ = table;
}
