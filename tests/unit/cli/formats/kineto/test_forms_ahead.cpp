#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>

#include "cli/formats/kineto/forms_ahead.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

// Alike but for their numbers; here and there one that is not.
std::string event_number(int i) {
  const std::string n = std::to_string(i);
  if (i % 41 == 40) return R"({"ph": "X", "cat": "cpu_op", "name": "once )" + n + R"( {[\"]}", "pid": 9, "tid": 9, "ts": )" + n + R"(, "dur": 3, "args": {"a": {"ph": "X"}}})";
  if (i % 3 == 0) return R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": )" + n + R"(.25, "dur": 2, "args": {"correlation": )" + n + R"(, "device": 0, "grid": [1, 2, 3]}})";
  if (i % 3 == 1) return R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": )" + n + R"(, "dur": 1.5, "args": {"cbid": 211, "correlation": )" + n + "}}";
  return R"({"ph": "s", "id": )" + n + R"(, "pid": 9, "tid": 9, "ts": )" + n + R"(, "cat": "ac2g", "name": "ac2g"})";
}

std::string events(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ",\n") + event_number(i);
  return text;
}

const std::string kHead = R"({"deviceProperties": [{"id": 0, "name": "G"}], "traceEvents": [)";
const std::string kTail = R"(], "host_name": "h", "distributedInfo": {"rank": 3}, "baseTimeNanoseconds": 1000000000000000000})";

// What is read and what is said, on so many threads.
std::string read_on(ReadingThreads threads, const std::string& json, std::size_t window) {
  std::string text;
  const std::string fault = message_of([&] { text = told(*read_kineto(json, "t.json", window, threads)); });
  return text + fault.substr(std::min(fault.size(), fault.find("t.json")));
}

void check_on_all_threads(const std::string& json) {
  for (const std::size_t window : {std::size_t{100}, JsonStream::kWindow}) {
    const std::string alone = read_on({}, json, window);
    for (const std::size_t threads : {2, 4}) {
      for (const std::size_t block : {64, 1000}) CHECK(read_on({threads, block}, json, window) == alone);
    }
  }
}

}  // namespace

TEST_CASE("a trace that others look at ahead is read as by one") {
  check_on_all_threads(kHead + events(300) + kTail);
  check_on_all_threads("[" + events(300) + "]");
  check_on_all_threads("[" + events(300) + ",");
  check_on_all_threads("{\"traceEvents\": [], \"x\": [" + events(300) + "]}");
  check_on_all_threads("{\"traceEvents\": [" + events(100) + "], \"x\": 1, \"traceEvents\": [" + events(300) + "], \"baseTimeNanoseconds\": 7}");
  check_on_all_threads("{}");
  check_on_all_threads("");
  check_on_all_threads("\xef\xbb\xbf" + kHead + events(200) + kTail);
}

TEST_CASE("damage is told with the same offsets however many read") {
  const std::string whole = kHead + events(220) + kTail;
  std::mt19937 random(7);
  for (const std::size_t cut : {whole.size() / 2, whole.size() - kTail.size(), whole.size() - kTail.size() - 3, whole.size() - 9}) {
    check_on_all_threads(whole.substr(0, cut));
  }
  for (int i = 0; i < 40; ++i) {
    std::string damaged = whole;
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
      const std::size_t at = random() % damaged.size();
      if (random() % 2 == 0) damaged[at] = "\"{}[],:\\\n0x"[random() % 11];
      else if (random() % 2 == 0) damaged.erase(at, 1 + random() % 100);
      else damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 200));
    }
    check_on_all_threads(damaged);
  }
}

// The rest of the file is looked at while the reader waits.
TEST_CASE("what others found has the size and the numbers of its text, also across blocks") {
  const TestFolder folder;
  std::string text;
  for (int i = 0; i < 400; ++i) text += "{\"a\": {\"ts\": " + std::to_string(i) + "}},\n";
  const int file = ::open(folder.write("t", text).c_str(), O_RDONLY | O_CLOEXEC);
  FormTree known;
  known.add(std::string("{\"a\": {\"ts\": ") + FormTree::kIntegerHole + "}}", 5);
  std::size_t found = 0;
  {
    FormsAhead ahead;
    ahead.begin(file, {3, 50});
    std::int64_t number = 0;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1, ++number) {
      const FormsAhead::Match match = ahead.at(at, known);
      if (number > 200 && match.size == 0) ::usleep(200);
      if (match.size == 0) continue;
      ++found;
      CHECK(match.size == text.find(",\n", at) - at);
      CHECK(match.form == 5);
      CHECK(match.numbers[0] == number);
    }
  }
  ::close(file);
  CHECK(found > 10);
}

TEST_CASE("others who cannot read the file leave the work to the reader") {
  FormTree known;
  known.add("{}", 0);
  FormsAhead ahead;
  ahead.begin(1 << 20, {4, 8});  // no such file
  for (std::uint64_t at = 0; at < 10000; ++at) CHECK(ahead.at(at, known).size == 0);
}
