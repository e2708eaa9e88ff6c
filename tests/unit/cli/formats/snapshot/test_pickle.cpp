// Memory snapshots as pickles written by hand: lists of frames that are referred to, and values that instructions must not
// reach.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/error.h"
#include "cli/formats/snapshot/snapshot.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using cli::snapshot::Snapshot;

namespace {

// The instructions of a pickle. The memo's numbers are counted, as Python does for protocol 4.
class PickleText {
 public:
  PickleText& raw(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }
  PickleText& string(std::string_view value) {
    return raw("\x8c").raw(std::string(1, static_cast<char>(value.size()))).raw(value);
  }
  PickleText& number(std::uint32_t value) { return raw("J").four(value); }
  PickleText& get(std::uint32_t memo) { return raw("j").four(memo); }
  // Stores the topmost value under this number.
  PickleText& put(std::uint32_t memo) { return raw("r").four(memo); }
  PickleText& frame(std::string_view name, std::uint32_t memo) {
    return raw("}(")
        .string("name")
        .string(name)
        .string("filename")
        .string("train.py")
        .string("line")
        .number(7)
        .raw("u")
        .put(memo);
  }
  // An entry of the history. `frames` leaves the list of its frames on the stack.
  PickleText& entry(std::uint32_t address, std::string_view frames) {
    return raw("}(")
        .string("action")
        .string("alloc")
        .string("addr")
        .number(address)
        .string("size")
        .number(512)
        .string("frames")
        .raw(frames)
        .raw("u");
  }
  const std::string& text() const { return text_; }

 private:
  PickleText& four(std::uint32_t value) {
    for (int i = 0; i < 4; ++i) text_ += static_cast<char>(value >> (8 * i) & 0xff);
    return *this;
  }

  std::string text_;
};

std::string references(const std::vector<std::uint32_t>& memos) {
  PickleText list;
  list.raw("](");
  for (const std::uint32_t memo : memos) list.get(memo);
  return list.raw("e").text();
}

// Returns a snapshot whose history is in `entries`. `before` leaves nothing but a list of frames under "frames".
std::string snapshot_text(std::string_view before, std::string_view entries) {
  return PickleText()
      .raw("\x80\x04}(")
      .string("frames")
      .raw("](")
      .raw(before)
      .raw("e")
      .string("segments")
      .raw("]")
      .string("device_traces")
      .raw("](](")
      .raw(entries)
      .raw("ee")
      .raw("u.")
      .text();
}

Snapshot read_text(std::string_view text) {
  const cli::TestFolder folder;
  return cli::snapshot::read_snapshot(folder.write("made.pickle", text));
}

// Returns the functions of each entry's stack, innermost first: "b<a".
std::vector<std::string> stacks_of(const Snapshot& snapshot) {
  std::vector<std::string> stacks;
  snapshot.histories.at(0).forward([&](std::size_t, const cli::snapshot::Entry& entry) {
    std::string& text = stacks.emplace_back();
    for (cli::StackId at = entry.stack; at != 0; at = snapshot.catalog.stacks[at].outer) {
      text += (text.empty() ? "" : "<") + std::string(snapshot.catalog.strings[snapshot.catalog.stacks[at].name]);
    }
  });
  return stacks;
}

std::string error_of(std::string_view text) {
  try {
    read_text(text);
  } catch (const cli::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("pickle: equal lists of references are one stack, until the memo changes") {
  const std::string frames = PickleText().frame("a", 0).frame("b", 1).text();
  const std::string list = references({1, 0}), reversed = references({0, 1});
  PickleText entries;
  entries.entry(1, list).entry(2, reversed).entry(3, list);
  // The number of frame "b" becomes that of another frame. The list that holds it is not part of the snapshot.
  const std::string changed = PickleText().raw("](").frame("c", 1).raw("e").text();
  entries.raw("}(").string("other").raw(changed).raw("u").entry(4, list);
  const auto found = stacks_of(read_text(snapshot_text(frames, entries.text())));
  REQUIRE(found.size() == 4);
  CHECK(found[0] == "b<a");
  CHECK(found[1] == "a<b");
  CHECK(found[2] == "b<a");
  CHECK(found[3] == "c<a");
}

TEST_CASE("pickle: a list of frames can be written in several ways") {
  const std::string frames = PickleText().frame("a", 0).frame("b", 1).text();
  PickleText one_by_one, in_parts, both;
  one_by_one.raw("]").get(1).raw("a").get(0).raw("a");
  in_parts.raw("](").get(1).raw("\x95").raw(std::string(8, '\0')).get(0).raw("e");  // FRAME within it
  both.raw("](").frame("b", 1).get(0).raw("e");
  const std::string entries =
      PickleText().entry(1, one_by_one.text()).entry(2, in_parts.text()).entry(3, both.text()).entry(4, "]").text();
  CHECK(stacks_of(read_text(snapshot_text(frames, entries))) == std::vector<std::string>{"b<a", "b<a", "b<a", ""});
}

TEST_CASE("pickle: a long list of references is written in parts of 1000") {
  const std::string frames = PickleText().frame("a", 0).frame("b", 1).text();
  PickleText list;
  list.raw("](");
  for (int i = 0; i < 1000; ++i) list.get(0);
  list.raw("e(").get(1).get(1).raw("e");
  const auto found = stacks_of(read_text(snapshot_text(frames, PickleText().entry(1, list.text()).text())));
  REQUIRE(found.size() == 1);
  CHECK(found[0].size() == 2 * 1002 - 1);
  CHECK(found[0].ends_with("a<b<b"));
}

TEST_CASE("pickle: a list that refers to other objects than frames is no stack") {
  const std::string frames = PickleText().frame("a", 0).string("text").put(1).text();
  const auto found = stacks_of(
      read_text(snapshot_text(frames, PickleText().entry(1, references({1, 0})).entry(2, references({1, 0})).text())));
  CHECK(found == std::vector<std::string>{"a", "a"});
}

TEST_CASE("pickle: numbers have one to nine bytes") {
  const auto address = [](std::string_view number) {
    const std::string entry = PickleText()
                                  .raw("}(")
                                  .string("action")
                                  .string("alloc")
                                  .string("size")
                                  .raw("K\x05")
                                  .string("addr")
                                  .raw(number)
                                  .raw("u")
                                  .text();
    std::uint64_t found = 0;
    read_text(snapshot_text("", entry)).histories.at(0).forward([&](std::size_t, const cli::snapshot::Entry& each) {
      found = each.address;
    });
    return found;
  };
  using namespace std::string_view_literals;
  CHECK(address("K\xff"sv) == 255);
  CHECK(address("M\x01\x02"sv) == 0x201);
  CHECK(address("J\x01\x02\x03\x04"sv) == 0x4030201);
  CHECK(address("\x8a\x06\x00\x00\x00\x00\x00\x7f"sv) == 0x7f0000000000);
  CHECK(address("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00"sv) == 0x8000000000000000);
  CHECK(address("\x8b\x02\x00\x00\x00\xff\x7f"sv) == 0x7fff);
}

TEST_CASE("pickle: instructions use no values below the last mark") {
  using namespace std::string_view_literals;
  for (const auto& instructions :
       {"K\x01(\x85"sv, "](a"sv, "K\x01(K\x02\x86"sv, "}(K\x01K\x01(s"sv, "(e"sv, "(u"sv, "(q\x00"sv}) {
    INFO(instructions);
    CHECK(error_of("\x80\x04" + std::string(instructions) + ".").find("values are missing") != std::string::npos);
  }
  CHECK(error_of("\x80\x04" + std::string(100'000, '(') + ".").find("too many unfinished values") != std::string::npos);
  CHECK(error_of("\x80\x04(.").find("unfinished objects") != std::string::npos);
}

TEST_CASE("pickle: a file that ends within an instruction is refused with its end") {
  const std::string frames = PickleText().frame("a", 0).text();
  const std::string whole = snapshot_text(frames, PickleText().entry(1, references({0, 0})).text());
  REQUIRE(error_of(whole).empty());
  for (std::size_t size = 3; size < whole.size(); ++size) {
    const std::string error = error_of(std::string_view(whole).substr(0, size));
    INFO(size << ": " << error);
    CHECK(error.find("the file ends here") != std::string::npos);
    CHECK(error.find(": byte ") != std::string::npos);
  }
}
