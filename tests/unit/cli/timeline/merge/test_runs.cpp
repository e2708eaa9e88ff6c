#include <string>
#include <vector>

#include "cli/formats/kineto/header.h"
#include "cli/timeline/merge/runs.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/scratch.h"

using namespace cli;
using namespace cli::kineto;
namespace {

// A profile whose first event is at this second.
std::string profile_at(int second, const std::string& mark = "") {
  return "{" + mark + (mark.empty() ? "" : ", ") +
         "\"baseTimeNanoseconds\": 1759300074000000000, \"traceEvents\": [{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1, "
         "\"tid\": 1, \"ts\": " +
         std::to_string(second) + "000000.5, \"dur\": 2}]}";
}

std::string names(const RunList& list) {
  std::string text;
  for (const Run& run : list.runs) text += run.name + ":" + std::to_string(run.files.size()) + " ";
  return text;
}

}  // namespace

TEST_CASE("runs: profiles of one directory are one run, the newest last by their first event") {
  const Scratch scratch;
  for (const char* name : {"new", "old/deep"}) std::filesystem::create_directories(scratch.path(name));
  write_file(scratch.path("new/rank0.json"), profile_at(90));
  write_file(scratch.path("new/rank1.json"), profile_at(91));
  write_file(scratch.path("old/deep/rank0.json"), profile_at(50));
  write_file(scratch.path("top.json"), profile_at(70));
  const RunList list = list_runs(find_files({scratch.folder()}));
  const std::string own = std::filesystem::path(scratch.folder()).filename().string();
  CHECK(names(list) == "old/deep:1 " + own + ":1 new:2 ");
  CHECK(list.runs[0].start_ns == 1759300124000000500);
  CHECK(list.skipped.empty());
}

TEST_CASE("runs: what is no trace is set aside with its reason") {
  const Scratch scratch;
  write_file(scratch.path("rank0.json"), profile_at(1));
  write_file(scratch.path("a_state.json"), "{\"epoch\": 3}");
  write_file(scratch.path("b_list.json"), "[1, 2, {\"x\": 1}]");
  write_file(scratch.path("c.ring"), "");
  write_file(scratch.path("d.ring"), std::string(5000, '\0'));
  write_file(scratch.path("e.json"), profile_at(1, export_mark({ExportMark::Form::chrome, {}})));
  write_file(scratch.path("f.json"), "{\"traceEvents\": []}");
  const RunList list = list_runs(find_files({scratch.folder()}));
  REQUIRE(list.runs.size() == 1);
  CHECK(list.runs[0].files.size() == 2);  // a profile without events is one
  std::string reasons;
  for (const SkippedFile& file : list.skipped) reasons += file.reason + "|";
  CHECK(
      reasons ==
      "JSON without trace events|JSON without trace events|empty|neither a recording, a merged file, a report nor JSON|"
      "Chrome JSON exported by tracetool; use the original recordings|");
}

TEST_CASE("runs: the mark of an export is found again, whatever the run is called") {
  const ExportMark mark{ExportMark::Form::kineto, "job \"7\\.1"};
  const ExportMark found = find_export_mark("\"schemaVersion\": 1, " + export_mark(mark) + ", \"run_id\": \"x\"");
  CHECK(found.form == ExportMark::Form::kineto);
  CHECK(find_export_mark("\"schemaVersion\": 1").form == ExportMark::Form::none);
  CHECK(find_export_mark("\"tracetool\": {\"rank\": 3}").form == ExportMark::Form::none);
  CHECK(find_export_mark(export_mark({ExportMark::Form::kineto, "job-7.1"})).run_id == "job-7.1");
}
