// Files of one run, read with what was learnt from those before them and each by itself: the same trace.
#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cli/formats/kineto/reader.h"
#include "cli/formats/reading/reader.h"
#include "cli/timeline/merge/catalogs.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;
using namespace cli::ttrace;

namespace {

struct TellFields {
  std::string& text;
  template <typename V>
  void number(const char*, const V& value, bool = true) {
    text += std::to_string(value) + " ";
  }
  template <typename V>
  void delta(const char*, const V& value, bool = true) {
    text += std::to_string(value) + " ";
  }
  template <typename V>
  void hex(const char*, const V& value, bool = true) {
    text += std::to_string(value) + " ";
  }
  void string(const char*, StringId id, bool = true) { text += std::to_string(id) + " "; }
  template <typename T>
  void id(const char*, InternedId<T> id, bool = true) {
    text += std::to_string(id) + " ";
  }
};

// The events of one file, whose ids are still those of its own catalogue.
struct FileEvents : EventSink {
  struct One {
    Event event;
    std::uint8_t tag = 0;
    std::uint64_t payload[(kMostPayloadBytes + 7) / 8] = {};
    std::string args;
    bool has_shape = false;
  };
  Catalog catalog;
  std::vector<One> events;
  bool tells_foreign = true;

  void event(const Event& event, const Facts& facts) override {
    One& one = events.emplace_back();
    one.event = event;
    one.tag = facts.tag();
    if (one.tag != 0) std::memcpy(one.payload, facts.data(), kPayloadBytes[one.tag]);
    if (!tells_foreign) return;
    one.args = KeptFacts(facts).args;
    one.has_shape = facts.shape != nullptr;
  }
};

// In the ids of the trace, to whose catalogue the file's is joined.
std::string told_in(FileEvents& file, Catalog& trace) {
  const IdMap ids = join_catalog(file.catalog, trace);
  std::string text;
  for (FileEvents::One& one : file.events) {
    Event& e = one.event;
    REQUIRE(ids.translate(e));
    for (const std::int64_t number :
         {e.start_ns, e.duration_ns, static_cast<std::int64_t>(e.correlation), static_cast<std::int64_t>(e.bytes),
          std::int64_t{e.track}, static_cast<std::int64_t>(e.kind), std::int64_t{e.has_bytes}, std::int64_t{e.name},
          std::int64_t{e.category}, std::int64_t{e.json.no_category}, std::int64_t{e.json.second_ids},
          static_cast<std::int64_t>(e.json.scope), std::int64_t{e.phase}, std::int64_t{one.has_shape}}) {
      text += std::to_string(number) + " ";
    }
    visit_payload(one.tag, static_cast<void*>(one.payload), [&](auto& payload) {
      REQUIRE(ids.translate_fields(payload));
      TellFields tell{text};
      visit_fields(tell, payload);
    });
    text += one.args + "\n";
  }
  return text;
}

std::string told_tables(const Catalog& trace) {
  std::string text;
  for (StringId id = 0; id < trace.strings.size(); ++id) text.append(trace.strings[id]).append("\n");
  for (ShapeId id = 0; id < trace.shapes.size(); ++id) text.append(trace.shapes[id].text).append("\n");
  for (const Track& track : trace.tracks) text += track.kineto_ids + " " + std::to_string(track.id) + "\n";
  for (const Process& process : trace.processes) {
    for (const std::uint64_t count : process.counts) text += std::to_string(count) + " ";
    for (const std::int64_t number : {process.first_ns, process.last_ns, process.first_unclamped_ns, process.pid,
                                      std::int64_t{process.explicit_flows}})
      text += std::to_string(number) + " ";
    for (const std::string& note : process.notes) text += note + "\n";
    text += process.device_name + "\n";
  }
  TellFields tell{text};
  for_each_interned([&]<typename T>(const T*) {
    for (const T& value : trace.interned<T>().all()) visit_fields(tell, value);
    text += "\n";
  });
  return text;
}

// Whether foreign arguments are read, and told.
struct Foreign {
  bool is_read = true, is_told = true;
};

// All files in their order; `memory`: null for each by itself.
std::string told_run(const std::vector<std::string>& files, std::size_t shape_text, ReaderMemory* memory,
                     Foreign foreign = {}) {
  const TestFolder folder;
  Catalog trace;
  std::string text;
  for (std::size_t i = 0; i < files.size(); ++i) {
    FileEvents file;
    file.catalog.shapes.limit_text(shape_text);
    file.tells_foreign = foreign.is_told;
    const std::string fault = message_of([&] {
      open_trace(folder.write("trace.json", files[i]), {1, memory, foreign.is_read})->read(file.catalog, file);
    });
    if (!foreign.is_read) CHECK(file.catalog.shapes.size() == 1);  // that of no arguments
    if (!foreign.is_told) file.catalog.shapes = Shapes();
    text += fault.substr(fault.find_last_of('/') + 1) + "\n" + told_in(file, trace);
  }
  return text + told_tables(trace);
}

// The first line that differs, of both; "": none.
std::string difference(const std::string& a, const std::string& b) {
  const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  if (at == std::max(a.size(), b.size())) return {};
  const std::size_t begin = at == 0 ? 0 : a.rfind('\n', at - 1) + 1;
  const auto line = [&](const std::string& text) { return text.substr(begin, text.find('\n', at) - begin); };
  return line(a) + "\n" + line(b);
}

void check_same(const std::vector<std::string>& files, std::size_t shape_text = kMostTextOfShapes) {
  ReaderMemory memory;
  CHECK(difference(told_run(files, shape_text, &memory), told_run(files, shape_text, nullptr)) == "");
  ReaderMemory without_foreign;
  CHECK(difference(told_run(files, shape_text, &without_foreign, {false, false}),
                   told_run(files, shape_text, nullptr, {true, false})) == "");
}

class RankFiles {
 public:
  explicit RankFiles(unsigned seed) : random_(seed) {}

  std::string file(int rank, int count, bool with_base = true) {
    rank_ = rank;
    std::string text = "{\"distributedInfo\": {\"rank\": " + std::to_string(rank) + "}, ";
    if (with_base) text += "\"baseTimeNanoseconds\": " + std::to_string(1'700'000'000'000'000'000 + rank) + ", ";
    text += "\"traceEvents\": [\n";
    for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ",\n") + event();
    return text + "]}";
  }

 private:
  std::string n(int below) { return std::to_string(random_() % static_cast<unsigned>(below)); }
  std::string event() {
    const std::string pid = std::to_string(100 + rank_), at = "\"pid\": " + pid + ", \"tid\": " + n(3) +
                                                              ", \"ts\": " + n(1000) + "." + n(1000) +
                                                              ", \"dur\": " + n(50);
    const std::string gpu =
        "\"pid\": " + std::to_string(rank_) + ", \"tid\": 7, \"ts\": " + n(1000) + ", \"dur\": " + n(9) + ".5";
    switch (random_() % 12) {
      case 0:
        return R"({"ph": "X", "cat": "cpu_op", "name": "aten::op)" + n(9) + "\", " + at +
               R"(, "args": {"External id": )" + n(99) + R"(, "Input Dims": [[)" + n(4) + R"(, 8], [[1], [)" + n(3) +
               R"(]], []], "Input type": ["float", "TensorList", "Scalar"], "Concrete Inputs": ["", "", ")" + n(5) +
               "\"]}}";
      case 1:
        return R"({"ph": "X", "cat": "kernel", "name": "k)" + n(5) + "\", " + gpu + R"(, "args": {"device": )" +
               std::to_string(rank_) + R"(, "correlation": )" + n(99) + R"(, "blocks per SM": )" + n(3) +
               R"(.5, "warps per SM": 4, "grid": [)" + n(4) + R"(, 1, 1], "block": [128, 1, 1]}})";
      case 2:
        return R"J({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", )J" + gpu +
               R"J(, "args": {"device": 0, "bytes": )J" + n(999) + R"J(, "memory bandwidth (GB/s)": )J" + n(3) + "." +
               n(999'999) + "}}";
      case 3:
        return R"J({"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", )J" + gpu + R"J(, "args": {"bytes": )J" +
               n(99) + R"J(, "memory bandwidth (GB/s)": )J" + (random_() % 2 == 0 ? n(9) : n(9) + "e-" + n(5)) +
               " } } ";
      case 4:
        return R"({"ph": "X", "cat": "kernel", "name": "allreduce", )" + gpu +
               R"(, "args": {"Collective name": "allreduce", "Process Group Ranks": "[0, )" + n(4) +
               R"(]", "In msg nelems": )" + n(64) + R"(, "External id": )" + n(99) + "}}";
      case 5:
        return R"({"ph": "s", "id": )" + n(99) + R"(, "pid": )" + pid + R"(, "tid": )" + n(3) + R"(, "ts": )" + n(99) +
               R"(, "cat": "ac2g", "name": "ac2g"})";
      case 6:
        return R"({"ph": "X", "cat": "cpu_op", "name": "of text ids", "pid": "Spans", "tid": "rank )" +
               std::to_string(rank_) + R"(", "ts": )" + n(99) + R"(, "dur": 1})";
      case 7:
        return R"({"ph": "X", "cat": "cpu_op", "name": "in quotes", "pid": ")" + pid + R"(", "tid": )" + n(3) +
               R"(, "ts": )" + n(99) + R"(, "dur": 1})";
      case 8:
        return R"J({"ph": "X", "cat": "gpu_memcpy", "name": "\"args\": {", )J" + gpu +
               R"J(, "other": {"args": {"a": 1}}, "args": {"memory bandwidth (GB/s)": 1.)J" + n(99) + "}}";
      case 9:
        return R"({"ph": "C", "name": "GPU", "pid": )" + std::to_string(rank_) + R"(, "ts": )" + n(99) +
               R"(, "args": {"MHz": )" + n(9) + "}}";
      case 10:
        return R"({"ph": "X", "cat": "user_annotation", "name": "only here )" + n(1'000'000) + "\", " + at +
               R"(, "args": {"once": ")" + n(1'000'000) + "\"}}";
      default:
        return R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", )" + at +
               R"(, "args": {"cbid": 211, "correlation": )" + n(99) + "}}";
    }
  }

  std::mt19937 random_;
  int rank_ = 0;
};

}  // namespace

TEST_CASE("files of a run are read with what was learnt as without") {
  for (unsigned seed = 0; seed < few(20); ++seed) {
    RankFiles run(seed);
    std::vector<std::string> files;
    for (int rank = 0; rank < 5; ++rank) files.push_back(run.file(rank, 200, seed % 2 == 0));
    check_same(files);
    for (const std::size_t shape_text : {400u, 4'000u, 100'000u}) check_same(files, shape_text);
  }
}

TEST_CASE("a file that cannot be read does not spoil those behind it") {
  RankFiles run(7);
  check_same({run.file(0, 100), "{\"traceEvents\": [", run.file(1, 100).substr(0, 9'000), run.file(2, 100), "no JSON",
              run.file(3, 100)});
}

TEST_CASE("what is learnt from files with little in common is forgotten") {
  const TestFolder folder;
  ReaderMemory memory;
  std::size_t most = 0;
  for (int file = 0; file < 20; ++file) {
    std::string text;
    for (int i = 0; i < 1'000; ++i) {
      const std::string unique = std::to_string(file * 1'000 + i);
      text += (i == 0 ? "" : ",") + (R"({"ph": "X", "cat": "cpu_op", "name": "n)" + unique +
                                     R"(", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {"a": "b)" + unique + "\"}}");
    }
    FileEvents events;
    open_trace(folder.write("trace.json", "{\"traceEvents\": [" + text + "]}"), {1, &memory})
        ->read(events.catalog, events);
    CHECK(events.events.size() == 1'000);
    most = std::max(most, events.catalog.strings.size());
  }
  CHECK(most > 1'500);
  CHECK(most < 5'000);
}
