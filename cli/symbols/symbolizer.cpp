#include "cli/symbols/symbolizer.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <unordered_map>

#include "cli/trace/short_name.h"

namespace cli {
namespace {

// Removes the suffix that compilers add to the names of parts or copies of functions.
std::string plain_name(std::string name) {
  for (const char* part : {".cold", ".part.", ".isra.", ".constprop."})
    name.resize(std::min(name.find(part), name.size()));
  std::string plain = demangled(name);
  return plain.empty() ? name : plain;
}

// Frees memory from malloc. libdw owns what it returns, except lists of scopes.
struct Freed {
  void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};

std::string text_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  const char* text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
  return text != nullptr ? text : "";
}

// Qualified if the compiler stored the linkage name; functions with internal linkage have none.
std::string linked_name(Dwarf_Die* die) { return plain_name(text_of(die, DW_AT_linkage_name)); }

Dwarf_Word number_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  return dwarf_formudata(dwarf_attr(die, name, &attribute), &number) == 0 ? number : 0;
}

// Returns the file's path. A relative path is completed with the compiler's working directory, which is in the unit.
std::string whole_path(Dwarf_Die* unit, const char* file) {
  if (file == nullptr || file[0] == '/' || unit == nullptr) return file != nullptr ? file : "";
  const std::string directory = text_of(unit, DW_AT_comp_dir);
  return directory.empty() ? file : directory + "/" + file;
}

std::string file_of(Dwarf_Die* unit, Dwarf_Word number) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(unit, &files, &count) != 0 || number >= count) return {};
  return whole_path(unit, dwarf_filesrc(files, number, nullptr, nullptr));
}

}  // namespace

// The code of one object, as read by libdw.
class SymbolizedCode {
 public:
  SymbolizedCode(const CodeObject& object, const std::vector<std::string>& directories) : debug_path_("+:.debug") {
    for (const std::string& directory : directories) debug_path_ += ":" + std::filesystem::absolute(directory).string();
    debug_path_ += ":/usr/lib/debug";
    debug_path_text_ = debug_path_.data();
    callbacks_.find_elf = dwfl_build_id_find_elf;
    callbacks_.find_debuginfo = dwfl_standard_find_debuginfo;
    callbacks_.section_address = dwfl_offline_section_address;
    callbacks_.debuginfo_path = &debug_path_text_;
    for (const std::string& path : code_file_candidates(object, directories)) {
      if (open(path, object)) return;
    }
    if (!ask_server(object)) module_ = nullptr;
  }
  ~SymbolizedCode() {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
  }
  SymbolizedCode(const SymbolizedCode&) = delete;
  SymbolizedCode& operator=(const SymbolizedCode&) = delete;

  bool is_there() const { return module_ != nullptr; }
  std::vector<SourcePlace> places_at(std::uint64_t address) const {
    std::vector<SourcePlace> places(1);
    const Unit unit = unit_at(address);
    if (Dwarf_Line* line = unit.die != nullptr ? dwarf_getsrc_die(unit.die, address - unit.bias) : nullptr) {
      int number = 0;
      dwarf_lineno(line, &number);
      places[0].file = whole_path(unit.die, dwarf_linesrc(line, nullptr, nullptr));
      places[0].line = number;
    }
    add_inlined(address, unit, places);
    if (places.back().function.empty()) places.back().function = symbol_at(address);
    if (places.back().function.empty()) return {};
    return places;
  }

 private:
  // A compilation unit, and the offset to subtract from addresses for it.
  struct Unit {
    Dwarf_Die* die = nullptr;
    Dwarf_Addr bias = 0;
  };

  void begin() {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
    dwfl_ = dwfl_begin(&callbacks_);
    module_ = nullptr;
    if (dwfl_ != nullptr) dwfl_report_begin(dwfl_);
  }

  bool is_same(const std::string& build_id) const {
    const unsigned char* bytes = nullptr;
    GElf_Addr address = 0;
    const int length = dwfl_module_build_id(module_, &bytes, &address);
    return length > 0 &&
           std::string_view(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length)) == build_id;
  }

  // Opens the file with the addresses as stored in it.
  bool open(const std::string& path, const CodeObject& object) {
    begin();
    if (dwfl_ == nullptr) return false;
    module_ = dwfl_report_elf(dwfl_, path.c_str(), path.c_str(), -1, 0, true);
    if (module_ == nullptr || (!object.build_id.empty() && !is_same(object.build_id))) return false;
    return dwfl_report_end(dwfl_, nullptr, nullptr) == 0;
  }

  // The file is not on this machine: libdw requests it by its build id if a server is configured.
  bool ask_server(const CodeObject& object) {
    const char* urls = std::getenv("DEBUGINFOD_URLS");
    if (urls == nullptr || *urls == '\0' || object.build_id.empty()) return false;
    begin();
    if (dwfl_ == nullptr) return false;
    module_ = dwfl_report_module(dwfl_, object.path.c_str(), 0, ~GElf_Addr{0} >> 1);
    const auto* bytes = reinterpret_cast<const unsigned char*>(object.build_id.data());
    if (module_ == nullptr || dwfl_module_report_build_id(module_, bytes, object.build_id.size(), 0) != 0) return false;
    GElf_Addr bias = 0;
    return dwfl_report_end(dwfl_, nullptr, nullptr) == 0 &&
           (dwfl_module_getelf(module_, &bias) != nullptr || dwfl_module_getdwarf(module_, &bias) != nullptr);
  }

  std::string symbol_at(std::uint64_t address) const {
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char* name = dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
    return name != nullptr && (symbol.st_size == 0 || offset < symbol.st_size) ? plain_name(name) : std::string();
  }

  // Uses gcc's address table (.debug_aranges), or, without it (clang), the ranges of each unit.
  Unit unit_at(std::uint64_t address) const {
    Unit unit;
    unit.die = dwfl_module_addrdie(module_, address, &unit.bias);
    if (unit.die != nullptr) return unit;
    if (!is_indexed_) index_units();
    const auto behind = units_.upper_bound(address);
    if (behind == units_.begin()) return {};
    const auto& [end, found] = std::prev(behind)->second;
    return address < end ? found : Unit{};
  }

  void index_units() const {
    is_indexed_ = true;
    Unit unit;
    while ((unit.die = dwfl_module_nextcu(module_, unit.die, &unit.bias)) != nullptr) {
      Dwarf_Addr base = 0, begin = 0, end = 0;
      for (std::ptrdiff_t at = 0; (at = dwarf_ranges(unit.die, at, &base, &begin, &end)) > 0;) {
        if (begin < end) units_[begin + unit.bias] = {end + unit.bias, unit};
      }
    }
  }

  // Adds the inlined functions from the innermost outwards. Each contains its call site, which is the place in the next
  // function.
  void add_inlined(std::uint64_t address, const Unit& unit, std::vector<SourcePlace>& places) const {
    Dwarf_Die *innermost = nullptr, *list = nullptr;
    const int any = unit.die != nullptr ? dwarf_getscopes(unit.die, address - unit.bias, &innermost) : 0;
    const std::unique_ptr<Dwarf_Die, Freed> freed_innermost(innermost);
    // Above an inlined function, these scopes are those of its definition, not of its call site.
    const int count = any > 0 ? dwarf_getscopes_die(innermost, &list) : 0;
    const std::unique_ptr<Dwarf_Die, Freed> freed(list);
    for (int i = 0; i < count; ++i) {
      const int tag = dwarf_tag(list + i);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
      SourcePlace& place = places.back();
      place.is_inlined = tag == DW_TAG_inlined_subroutine;
      place.function = linked_name(list + i);
      if (place.function.empty() && !place.is_inlined) place.function = symbol_at(address);
      if (place.function.empty()) place.function = text_of(list + i, DW_AT_name);
      if (!place.is_inlined) return;
      SourcePlace outer;
      outer.file = file_of(unit.die, number_of(list + i, DW_AT_call_file));
      outer.line = static_cast<std::int32_t>(number_of(list + i, DW_AT_call_line));
      places.push_back(outer);
    }
  }

  std::string debug_path_;
  char* debug_path_text_ = nullptr;
  Dwfl_Callbacks callbacks_{};
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  mutable bool is_indexed_ = false;
  // By start address of its code; the value contains the end address
  mutable std::map<std::uint64_t, std::pair<std::uint64_t, Unit>> units_;
};

struct Symbolizer::State {
  struct Known {
    Known(const CodeObject& object, const std::vector<std::string>& directories) : code(object, directories) {}
    SymbolizedCode code;
    std::unordered_map<std::uint64_t, std::vector<SourcePlace>> places;
  };
  Known& of(const CodeObject& object) { return objects.try_emplace(object, object, directories).first->second; }

  std::vector<std::string> directories;
  std::map<CodeObject, Known> objects;
};

Symbolizer::Symbolizer(std::vector<std::string> directories) : state_(std::make_unique<State>()) {
  state_->directories = std::move(directories);
}
Symbolizer::~Symbolizer() = default;

const std::vector<SourcePlace>& Symbolizer::look_up(const CodeObject& object, std::uint64_t address) {
  State::Known& known = state_->of(object);
  const auto [found, is_new] = known.places.try_emplace(address);
  if (is_new && address > 0 && known.code.is_there()) found->second = known.code.places_at(address - 1);
  return found->second;
}

std::string Symbolizer::missing(const CodeObject& object) {
  if (object.path.empty()) return "no file contains it";
  if (state_->of(object).code.is_there()) return {};
  return object.build_id.empty() ? "no file is at its path"
                                 : "no file with build id " + hex_text(object.build_id) + " was found";
}

}  // namespace cli
