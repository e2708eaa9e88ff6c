// Against addr2line and nm of binutils, on a library that is built for it.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include "../scratch.h"
#include "cli/symbols/symbolizer.h"
#include "tests/unit/catch.h"

using namespace cli;
using Places = std::vector<SourcePlace>;

namespace {

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char part[4096];
  for (std::size_t got; pipe && (got = fread(part, 1, sizeof(part), pipe.get())) > 0;) text.append(part, got);
  return text;
}

std::string library() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "cli/symbols/libsymbolized.so").string();
}

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string build_id_of(const std::string& path) {
  const std::string text = output_of("readelf -n " + path + " 2>/dev/null");
  const std::size_t at = text.find("Build ID: ");
  return at == std::string::npos ? "" : from_hex(text.substr(at + 10, text.find('\n', at) - at - 10));
}

struct Function {
  std::uint64_t begin, bytes;
};

std::vector<Function> functions_of(const std::string& path) {
  std::istringstream lines(output_of("nm -S --defined-only " + path + " | grep -E '^[0-9a-f]+ [0-9a-f]+ [tT] '"));
  std::vector<Function> found;
  std::uint64_t begin, bytes;
  for (std::string type, name; lines >> std::hex >> begin >> bytes >> type >> name;) found.push_back({begin, bytes});
  return found;
}

std::string hex_of(std::uint64_t number) {
  char text[20];
  snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(number));
  return text;
}

// Of each address a text: a line with the function and one with file:line for each function that is inlined there.
std::vector<std::string> addr2line(const std::string& path, const std::vector<std::uint64_t>& addresses) {
  std::string command = "addr2line -a -f -i -C -e " + path;
  for (const std::uint64_t address : addresses) command += " 0x" + hex_of(address);
  std::istringstream lines(output_of(command + " | sed 's/ (discriminator .*//'"));
  std::vector<std::string> texts;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0x"))
      texts.emplace_back();
    else if (!texts.empty())
      texts.back() += line + "\n";
  }
  return texts;
}

std::string as_addr2line(const Places& places) {
  std::string all;
  for (const SourcePlace& place : places)
    all += place.function + "\n" + (place.file.empty() ? "??" : place.file) + ":" +
           (place.line == 0 ? "?" : std::to_string(place.line)) + "\n";
  return all;
}

// addr2line has no qualified name of a static function in which something is inlined; the linker's table, which we read, has.
std::string with_bare_name(std::string text) {
  const std::string qualified = "symbolized::hidden(int)\n";
  for (std::size_t at; (at = text.find(qualified)) != std::string::npos;)
    text.replace(at, qualified.size(), "hidden\n");
  return text;
}

std::vector<std::uint64_t> addresses_in(const std::string& path) {
  std::vector<std::uint64_t> addresses;
  for (const Function& function : functions_of(path)) {
    for (std::uint64_t i = 0; i < function.bytes; i += 3) addresses.push_back(function.begin + i);
  }
  return addresses;
}

}  // namespace

TEST_CASE("symbols: functions, inlined ones, files and lines are those of addr2line", "[symbols][slow]") {
  const std::string path = library();
  const auto addresses = addresses_in(path);
  REQUIRE(addresses.size() > 100);
  const std::vector<std::string> theirs = addr2line(path, addresses);
  REQUIRE(theirs.size() == addresses.size());
  Symbolizer symbols;
  std::size_t deepest = 0;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const Places& places = symbols.look_up({path, build_id_of(path)}, addresses[i] + 1);
    deepest = std::max(deepest, places.size());
    CAPTURE(hex_of(addresses[i]));
#ifdef __clang__
    // libdw (0.188) does not see all functions that clang inlined: the innermost line and the outermost function are right.
    REQUIRE(!places.empty());
    const std::string innermost = as_addr2line({places.front()});
    if (!places.front().file.empty()) CHECK_THAT(theirs[i], contains_text(innermost.substr(innermost.find('\n'))));
    CHECK_THAT(with_bare_name("\n" + theirs[i]), contains_text(with_bare_name("\n" + places.back().function + "\n")));
#else
    CHECK(with_bare_name(as_addr2line(places)) == with_bare_name(theirs[i]));
#endif
  }
#ifndef __clang__
  CHECK(deepest >= 3);
#endif
}

TEST_CASE("symbols: a file of another build id is not believed", "[symbols][slow]") {
  const std::string path = library(), right = build_id_of(path);
  const std::uint64_t address = functions_of(path).front().begin + 1;
  std::string wrong = right;
  wrong[0] = static_cast<char>(wrong[0] ^ 1);
  Symbolizer symbols;
  REQUIRE(right.size() == 20);
  CHECK(!symbols.look_up({path, right}, address).empty());
  CHECK(!symbols.look_up({path, ""}, address).empty());
  CHECK(symbols.look_up({path, wrong}, address).empty());
  CHECK(symbols.missing({path, right}).empty());
  CHECK(symbols.missing({path, wrong}) == "no file with build id " + hex_text(wrong) + " was found");
  CHECK(symbols.missing({"/no/such/file", ""}) == "no file is at its path");
  CHECK(symbols.missing({"", ""}) == "no file contains it");
  CHECK(symbols.look_up({path, right}, 0).empty());
  CHECK(symbols.look_up({path, right}, ~std::uint64_t{0}).empty());
}

TEST_CASE("symbols: what was split off is found in a directory by its build id", "[symbols][slow]") {
  const std::string path = library(), id = build_id_of(path), hex = hex_text(id);
  const Scratch scratch;
  const std::string debug = scratch.path("symbols/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".debug"),
                    bare = scratch.path("libsymbolized.so");
  std::filesystem::create_directories(std::filesystem::path(debug).parent_path());
  REQUIRE(std::system(
              ("objcopy --only-keep-debug " + path + " " + debug + " && strip -o " + bare + " " + path).c_str()) == 0);
  const auto addresses = addresses_in(path);
  Symbolizer whole, beside({scratch.path("symbols")}), gone({scratch.path("symbols")}), without;
  std::size_t named = 0, unnamed = 0;
  for (const std::uint64_t address : addresses) {
    const Places& places = whole.look_up({path, id}, address + 1);
    CHECK(beside.look_up({bare, id}, address + 1) == places);        // the program's own file has no names
    CHECK(gone.look_up({"/gone/x.so", id}, address + 1) == places);  // there is nothing but what was split off
    named += places.back().file.empty() ? 0 : 1;
    unnamed += without.look_up({bare, id}, address + 1).empty() ? 1 : 0;
  }
  CHECK(named > addresses.size() / 2);
  CHECK(unnamed > 0);
}

// A server's answers as files: libdebuginfod takes them so, where it is installed.
TEST_CASE("symbols: an object that is not here is asked for by its build id where DEBUGINFOD_URLS says whom",
          "[symbols][slow]") {
  void* client = dlopen("libdebuginfod.so.1", RTLD_NOW);
  if (client == nullptr) return;  // not installed
  const std::string path = library(), id = build_id_of(path);
  const Scratch scratch;
  const std::string answers = scratch.path("buildid/" + hex_text(id));
  std::filesystem::create_directories(answers);
  for (const char* what : {"executable", "debuginfo"}) std::filesystem::copy_file(path, answers + "/" + what);
  setenv("DEBUGINFOD_CACHE_PATH", scratch.path("cache").c_str(), 1);
  const auto addresses = addresses_in(path);
  Symbolizer whole, unasked;
  CHECK(unasked.look_up({"/gone/x.so", id}, addresses[0] + 1).empty());
  setenv("DEBUGINFOD_URLS", ("file://" + scratch.folder() + "/").c_str(), 1);
  Symbolizer asked;
  for (const std::uint64_t address : addresses)
    CHECK(asked.look_up({"/gone/x.so", id}, address + 1) == whole.look_up({path, id}, address + 1));
  unsetenv("DEBUGINFOD_URLS");
}

TEST_CASE("symbols: no file that is damaged harms", "[symbols][slow]") {
  const Scratch scratch;
  const std::string whole = read_file(library()), id = build_id_of(library());
  for (std::size_t cut = 0; cut < whole.size(); cut += whole.size() / 40 + 1) {
    const std::string path = scratch.path("cut" + std::to_string(cut));
    write_file(path, whole.substr(0, cut));
    Symbolizer symbols;
    for (std::uint64_t address = 0x1000; address < 0x1800; address += 16) symbols.look_up({path, ""}, address);
  }
  std::uint32_t random = 1;
  for (int round = 0; round < 40; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 200; ++i) {
      random = random * 1664525 + 1013904223;
      damaged[random % damaged.size()] = static_cast<char>(random >> 24);
    }
    const std::string path = scratch.path("damaged" + std::to_string(round));
    write_file(path, damaged);
    Symbolizer symbols;
    for (std::uint64_t address = 0x1000; address < 0x1800; address += 16) symbols.look_up({path, ""}, address);
  }
  SUCCEED();
}
