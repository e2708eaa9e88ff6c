// The summary of made tables: what it adds up, whom it names, and in which order.
#include "cli/answers/tables/summary.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

using Rows = std::vector<std::vector<Cell>>;

ResultTable temporal(const Rows& rows) {
  return {"temporal",
          {{"rank", Unit::number, ""},
           {"device", Unit::number, ""},
           {"span_ns", Unit::ns, ""},
           {"busy_ns", Unit::ns, ""},
           {"idle_ns", Unit::ns, ""},
           {"compute_ns", Unit::ns, ""},
           {"exposed_comm_ns", Unit::ns, ""}},
          rows,
          {}};
}
std::vector<Cell> gpu(std::int64_t rank, std::int64_t span, std::int64_t busy, std::int64_t compute,
                      std::int64_t exposed) {
  return {rank, rank, span, busy, span - busy, compute, exposed};
}
ResultTable stragglers(const Rows& rows) {
  return {"stragglers",
          {{"rank", Unit::number, ""},
           {"straggler", Unit::yes_no, ""},
           {"others_waited_ns", Unit::ns, ""},
           {"cause", Unit::text, ""},
           {"evidence", Unit::text, ""}},
          rows,
          {}};
}
ResultTable steps(const Rows& rows) {
  return {"steps", {{"step", Unit::number, ""}, {"rank", Unit::number, ""}, {"duration_ns", Unit::ns, ""}}, rows, {}};
}

bool in_order(const std::string& text, std::initializer_list<std::string_view> parts) {
  std::size_t at = 0;
  for (const std::string_view part : parts) {
    at = text.find(part, at);
    if (at == std::string::npos) return false;
    at += part.size();
  }
  return true;
}

}  // namespace

TEST_CASE("summary: the time of all GPUs as a partition, the largest loss first, and who is late") {
  const std::string text =
      summary_text({temporal({gpu(0, 1000, 950, 600, 300), gpu(1, 1000, 700, 600, 50)}),
                    steps({{1, 0, 400}, {1, 1, 410}, {2, 0, 400}, {2, 1, 900}}),
                    stragglers({{0, false, 3, Cell(), Cell()},
                                {1, true, 250, std::string("host"), std::string("its GPU was idle")}})},
                   "a/traces");
  INFO(text);
  CHECK(in_order(
      text,
      {"2 GPUs, 2.000 us of GPU time: 60.00 % compute, 40.00 % without compute\n",
       " 17.50 %  350 ns: idle; from 50 ns on rank 0 to 300 ns on rank 1\n",
       " 17.50 %  350 ns: exposed communication; from 50 ns on rank 1 to 300 ns on rank 0\n",
       "  5.00 %  100 ns: copies and memsets alone\n",
       "rank 1 is late to collectives: the others waited 250 ns for it alone, 12.50 % of the GPU time; cause: host (its GPU was idle)\n",
       "steps 1 to 2: median 400 ns, longest 900 ns (step 2 of rank 1)\n",
       "next: tracetool analyze a/traces --only stragglers"}));
  CHECK(text.find("rank 0 is late") == std::string::npos);
}

TEST_CASE("summary: where all shown steps are warm-up, that alone is said") {
  ResultTable all_warm = steps({{0, 0, 900, true}, {0, 1, 950, true}});
  all_warm.columns.push_back({"warm_up", Unit::yes_no, ""});
  const std::string text = summary_text({temporal({gpu(0, 1000, 950, 600, 300)}), all_warm}, "a/traces");
  INFO(text);
  CHECK(in_order(text, {"step 0: only warm-up, up to 950 ns\n"}));
}

TEST_CASE("summary: a step that is warm-up on one rank is left out on all") {
  ResultTable some_warm = steps({{0, 0, 900, true},
                                 {0, 1, 950, true},
                                 {1, 0, 500, true},
                                 {1, 1, 600, false},
                                 {2, 0, 100, false},
                                 {2, 1, 110, false}});
  some_warm.columns.push_back({"warm_up", Unit::yes_no, ""});
  const std::string text = summary_text({temporal({gpu(0, 1000, 950, 600, 300)}), some_warm}, "a/traces");
  INFO(text);
  CHECK(in_order(
      text,
      {"steps 0 to 2: median 100 ns, longest 110 ns (step 2 of rank 1), without warm-up steps 0-1 of up to 950 ns\n"}));
}

TEST_CASE("summary: how busy GPUs are in steps that are a part of the time") {
  ResultTable part = steps({{1, 0, 40, 30}, {2, 0, 60, 20}});
  part.columns.push_back({"busy_ns", Unit::ns, ""});
  const std::string text = summary_text({temporal({gpu(0, 1000, 50, 50, 0)}), part}, "a/traces");
  INFO(text);
  CHECK(in_order(
      text, {"95.00 %  950 ns: idle",
             "steps 1 to 2: median 40 ns, longest 60 ns (step 2 of rank 0); GPUs are busy for 50.0 % of the steps\n"}));
}

TEST_CASE("summary: nothing is said of what is not there") {
  CHECK(summary_text({temporal({})}, "a/traces") == "no GPU work\n");
  CHECK(summary_text({temporal({{0, Cell(), Cell(), Cell(), Cell(), Cell(), Cell()}})}, "a/traces") == "no GPU work\n");
  const std::string text = summary_text({temporal({gpu(0, 100, 100, 100, 0)})}, "a/traces");
  CHECK(in_order(text, {"1 GPU, 100 ns of GPU time: 100.00 % compute, 0.00 % without compute\nno steps found\n",
                        "--only kernels"}));
}

TEST_CASE("summary: of many GPUs there is no row for each") {
  Rows many;
  for (std::int64_t rank = 0; rank < 17; ++rank) many.push_back(gpu(rank, 100, 90, 90, 0));
  CHECK(summary_text({temporal(many)}, "a/traces").find("rank  device") == std::string::npos);
  many.pop_back();
  CHECK(summary_text({temporal(many)}, "a/traces").find("rank  device") != std::string::npos);
}

TEST_CASE("summary: the same in three sentences") {
  const auto told = summary_sentences(
      {temporal({gpu(0, 1000, 950, 600, 300), gpu(1, 1000, 700, 600, 50)}), steps({{1, 0, 400}, {1, 1, 410}}),
       stragglers({{0, true, 30, std::string("copy"), Cell()},
                   {1, true, 250, std::string("host"), std::string("its GPU was idle")}})});
  REQUIRE(told.size() == 3);
  CHECK(
      told[0] ==
      "2 GPUs, 2.000 us of GPU time: 60.00 % compute, 40.00 % without compute; the largest part is 17.50 %, 350 ns: idle; from 50 ns on rank 0 to 300 ns on rank 1.");
  CHECK(told[1] == "step 1: median 400 ns, longest 410 ns (step 1 of rank 1).");
  CHECK(
      told[2] ==
      "rank 1 is late to collectives: the others waited 250 ns for it alone, 12.50 % of the GPU time; cause: host (its GPU was idle); 1 more rank is late.");
  const auto alone = summary_sentences({temporal({gpu(0, 1000, 950, 600, 300)}), steps({{6, 0, 400}})});
  REQUIRE(alone.size() == 2);  // one GPU waits for nobody
  CHECK(alone[1] == "step 6: 400 ns.");
  CHECK(summary_sentences({}) == std::vector<std::string>{"no GPU work."});
}
