#include "cli/read/ring_show.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "cli/read/record_fields.h"
#include "cli/read/ring_file.h"
#include "cli/read/ring_names.h"

namespace cli {
namespace {

// " name=value"; references by where they lead, arrays with commas, texts as they stand.
struct ShowFields {
  template <typename T>
  void operator()(std::string_view name, const T& value) {
    fmt::format_to(std::back_inserter(out), "{}{}=", out.empty() ? "" : " ", name);
    show(name, value);
  }
  template <typename T>
  void show(std::string_view name, const T& value) {
    name.ends_with("_ref") ? fmt::format_to(std::back_inserter(out), "@{:x}", value)
                           : fmt::format_to(std::back_inserter(out), "{}", +value);
  }
  template <typename T, std::size_t Size>
  void show(std::string_view, const T (&values)[Size]) {
    for (std::size_t i = 0; i < Size; ++i) fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ",", +values[i]);
  }
  template <std::size_t Size>
  void show(std::string_view, const char (&text)[Size]) {
    out += terminated(text);
  }

  std::string out;
};

}  // namespace

std::string show_record(const std::vector<std::byte>& bytes, std::size_t at, std::uint8_t kind, std::size_t size) {
  ShowFields fields;
  trace::for_each_record([&]<typename R>(R*) {
    if (static_cast<std::uint8_t>(R::kKind) == kind) trace::record_fields(record_at<R>(bytes, at, size), fields);
  });
  return fields.out;
}

}  // namespace cli
