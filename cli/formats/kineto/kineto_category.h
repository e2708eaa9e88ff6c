// What an event is, by its category: Kineto's words of all times (libkineto's ActivityType.cpp; before 2021
// "Operator", "Kernel", ...), and our own.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli {

struct KinetoCategory {
  std::string text;
  StringId id = 0;           // of the text
  Kind kind = Kind::other;   // of a slice of this category
  bool on_stream = false;    // its track is a GPU stream
  bool on_thread = false;    // its track is surely a host thread
  bool launch_flow = false;  // flows from a launch to its work
};

// Of slices without a category on a GPU's stream (KinetoLocations::is_device_row).
const KinetoCategory& device_work();

// The entries of the categories that one file uses, made at first sight. Addresses stay.
class KinetoCategories {
 public:
  explicit KinetoCategories(Strings& strings) : strings_(&strings) {}
  // With another file's strings, which have those so far by the same ids.
  void go_on_in(Strings& strings) { strings_ = &strings; }
  const KinetoCategory& find(std::string_view text);

 private:
  Strings* strings_;
  std::unordered_map<std::string_view, KinetoCategory*> entries_;
  std::vector<std::unique_ptr<KinetoCategory>> owned_;
  const KinetoCategory* last_[2] = {};
};

}  // namespace cli
