#include "cli/answers/tables/write_tables.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

ResultTable small() {
  ResultTable table{"small",
                    {{"name", Unit::text, ""},
                     {"rank", Unit::number, ""},
                     {"busy_ns", Unit::ns, ""},
                     {"share_pct", Unit::percent, ""},
                     {"grid", Unit::extent, ""}},
                    {},
                    {}};
  table.rows.resize(2);
  table.rows[0] = std::vector<Cell>(5);
  table.rows[0][0] = std::string("=a, \"b\"|c"), table.rows[0][1] = std::int64_t{3},
  table.rows[0][2] = std::int64_t{1'500'000};
  table.rows[0][3] = 12.5, table.rows[0][4] = Extent{132, 2, 1};
  table.rows[1] = std::vector<Cell>(5);
  table.rows[1][0] = std::string("d");
  return table;
}

std::string written(std::string_view format) { return find_table_format(format)->write({small()}); }

}  // namespace

TEST_CASE("tables: text for people") {
  CHECK(written("text") ==
        "name       rank  busy ms  share %     grid\n"
        "=a, \"b\"|c     3    1.500    12.50  132x2x1\n"
        "d             -        -        -        -\n");
}

TEST_CASE("tables: a column of text has one unit, and its largest number four digits") {
  ResultTable table{"small",
                    {{"step", Unit::number, ""},
                     {"busy_ns", Unit::ns, ""},
                     {"peak_bytes", Unit::bytes, ""},
                     {"bytes", Unit::bytes, ""},
                     {"share_pct", Unit::percent, ""},
                     {"told_by", Unit::text, ""}},
                    {},
                    {}};
  table.rows.push_back(
      {std::int64_t{1}, std::int64_t{12'345'678'901}, std::int64_t{3} << 30, std::int64_t{0}, 100.0, Cell()});
  table.rows.push_back(
      {std::int64_t{12345}, std::int64_t{4'000'000}, std::int64_t{-1} << 20, std::int64_t{2047}, 0.001, Cell()});
  table.rows.push_back({Cell(), std::int64_t{0}, Cell(), Cell(), 0.0, Cell()});
  CHECK(find_table_format("text")->write({table}) ==
        " step  busy s  peak GiB    KiB  share %\n"
        "    1   12.35     3.000      0    100.0\n"
        "12345   <0.01    -0.001  1.999     <0.1\n"
        "    -       0         -      -        0\n"
        "note: columns without values are omitted: told by\n");
}

TEST_CASE("tables: json for programs") {
  CHECK(
      written("json") ==
      "{\n\"small\": [\n"
      "  {\"name\": \"=a, \\\"b\\\"|c\", \"rank\": 3, \"busy_ns\": 1500000, \"share_pct\": 12.5, \"grid\": [132, 2, 1]},\n"
      "  {\"name\": \"d\", \"rank\": null, \"busy_ns\": null, \"share_pct\": null, \"grid\": null}]\n}\n");
}

TEST_CASE("tables: no cell of csv is a formula") {
  CHECK(written("csv") ==
        "name,rank,busy_ns,share_pct,grid\r\n\"'=a, \"\"b\"\"|c\",3,1500000,12.5,132x2x1\r\nd,,,,\r\n");
}

TEST_CASE("tables: markdown is one table") {
  CHECK(written("md") ==
        "| name | rank | busy | share | grid |\n|---|---:|---:|---:|---:|\n"
        "| =a, \"b\"\\|c | 3 | 1.500 ms | 12.50 % | 132x2x1 |\n| d | - | - | - | - |\n");
}

TEST_CASE("tables: several stand under their names") {
  const std::string text = find_table_format("text")->write({small(), small()});
  CHECK(text.find("small\nname") == 0);
  CHECK(text.find("\n\nsmall\nname") != text.npos);
  CHECK(find_table_format("yaml") == nullptr);
}

TEST_CASE("tables: yes and no are true and false to programs, and sentences stand last and whole") {
  const std::string sentence(150, 'x');
  ResultTable table{"small", {{"evidence", Unit::text, ""}, {"straggler", Unit::yes_no, ""}}, {}, {}};
  table.rows.push_back({sentence, true});
  table.rows.push_back({Cell(), false});
  const auto form = [&](std::string_view format) { return find_table_format(format)->write({table}); };
  CHECK(form("text") == "straggler  evidence\nyes        " + sentence + "\nno         -\n");
  CHECK(form("json") == "{\n\"small\": [\n  {\"evidence\": \"" + sentence +
                            "\", \"straggler\": true},\n  {\"evidence\": null, \"straggler\": false}]\n}\n");
  CHECK(form("csv") == "evidence,straggler\r\n" + sentence + ",true\r\n,false\r\n");
}

TEST_CASE("tables: rows within a cell are for programs") {
  static constexpr Column kParts[] = {{"rank", Unit::number, ""}, {"wait_ns", Unit::ns, ""}};
  ResultTable table{"small",
                    {{"op", Unit::text, ""}, {"waits", Unit::rows, "", kParts, 2}, {"speed_gb_per_s", Unit::rate, ""}},
                    {},
                    {}};
  table.rows.push_back({std::string("all_reduce"), CellRows{{0, 1500}, {1, std::nullopt}}, 277.25});
  table.rows.push_back({std::string("barrier"), CellRows{}, {}});
  const auto form = [&](std::string_view format) { return find_table_format(format)->write({table}); };
  CHECK(form("text") == "op          speed GB/s\nall_reduce       277.2\nbarrier              -\n");
  CHECK(
      form("json") ==
      "{\n\"small\": [\n"
      "  {\"op\": \"all_reduce\", \"waits\": [{\"rank\": 0, \"wait_ns\": 1500}, {\"rank\": 1, \"wait_ns\": null}], \"speed_gb_per_s\": 277.25},\n"
      "  {\"op\": \"barrier\", \"waits\": [], \"speed_gb_per_s\": null}]\n}\n");
  CHECK(form("csv") == "op,waits,speed_gb_per_s\r\nall_reduce,0:1500 1:,277.25\r\nbarrier,,\r\n");
  CHECK(form("md") == "| op | speed GB/s |\n|---|---:|\n| all\\_reduce | 277.25 |\n| barrier | - |\n");
}
