#include "cli/formats/export/chrome_text.h"

#include <algorithm>

#include "cli/base/json_text.h"
#include "cli/formats/json/file_kind.h"
#include "cli/trace/event.h"
#include "cli/trace/names.h"

namespace cli {

namespace {

constexpr std::string_view kOrange = "bad", kGreen = "good", kOlive = "olive", kYellow = "yellow", kLightGrey = "grey",
                           kRed = "terrible", kBlack = "black";

}  // namespace

std::string_view chrome_color(Kind kind, std::string_view name) {
  switch (kind) {
    case Kind::kernel:
      return is_comm_name(name) || is_exchange_name(name) ? kOrange : is_gemm_name(name) ? kGreen : "";
    case Kind::nccl:
      return kOrange;
    case Kind::memcpy:
    case Kind::memset:
      return kOlive;
    case Kind::sync:
      return kYellow;
    default:
      return {};
  }
}

std::string_view chrome_color(DerivedTrack track) {
  switch (track) {
    case DerivedTrack::idle:
      return kLightGrey;
    case DerivedTrack::exposed_comm:
      return kRed;
    case DerivedTrack::lost:
      return kBlack;
    default:
      return {};
  }
}

std::string chrome_ids(std::uint32_t pid, std::uint32_t tid) {
  return "\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid);
}

void ChromeText::head(std::int64_t origin_ns) {
  origin_ = origin_ns;
  out_.raw("{\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":");
  out_.number(origin_ns);
  out_.raw(",");
  out_.raw(export_mark({ExportMark::Form::chrome, {}}));
  out_.raw(",\"traceEvents\":[");
}

void ChromeText::tail() {
  out_.raw("\n]}\n");
  out_.flush();
}

void ChromeText::open(std::string_view head) {
  out_.raw(first_ ? "\n" : ",\n");
  first_ = false;
  out_.raw(head);
}

void ChromeText::name(std::string_view metadata, std::string_view ids, std::string_view name, std::string_view more) {
  open("{\"ph\":\"M\",\"name\":\"");
  out_.raw(metadata);
  out_.raw("\",");
  out_.raw(ids);
  out_.raw(",\"args\":{\"name\":");
  json_string(out_, name);
  out_.raw(more);
  out_.raw("}}");
}

void ChromeText::sort_index(std::string_view metadata, std::string_view ids, std::int64_t index) {
  open("{\"ph\":\"M\",\"name\":\"");
  out_.raw(metadata);
  out_.raw("\",");
  out_.raw(ids);
  out_.raw(",\"args\":{\"sort_index\":");
  out_.number(index);
  out_.raw("}}");
}

void ChromeText::slice(const Event& event, std::int64_t end_ns, std::string_view ids, std::string_view args) {
  const KernelText* const kernel = event.kind == Kind::kernel ? &kernel_text(event.name) : nullptr;
  open("{\"ph\":\"X\",");
  names(event, ids, kernel);
  out_.raw(",\"dur\":");
  out_.micros(static_cast<std::uint64_t>(end_ns) - static_cast<std::uint64_t>(event.start_ns));
  color(kernel != nullptr ? kernel->color : chrome_color(event.kind, {}));
  arguments(event, args, kernel);
}

void ChromeText::instant(const Event& event, std::string_view ids, std::string_view args) {
  open("{\"ph\":\"i\",\"s\":\"t\",");
  names(event, ids, nullptr);
  arguments(event, args, nullptr);
}

// The members of a counter's args are its series, so no other data is added.
void ChromeText::counter(const Event& event, std::string_view ids, std::string_view args) {
  open("{\"ph\":\"C\",");
  names(event, ids, nullptr);
  out_.raw(",\"args\":{");
  out_.raw(args);
  out_.raw("}}");
}

void ChromeText::computed_slice(const Derived& derived, const DerivedText& said, std::string_view ids,
                                std::string_view name_of_color) {
  open("{\"ph\":\"X\",\"cat\":\"computed\",\"name\":");
  json_string(out_, said.name);
  out_.raw(",");
  out_.raw(ids);
  out_.raw(",\"ts\":");
  time(derived.start_ns);
  out_.raw(",\"dur\":");
  out_.micros(static_cast<std::uint64_t>(derived.duration_ns));
  color(name_of_color);
  out_.raw(",\"args\":{");
  out_.raw(said.args);
  out_.raw("}}");
}

void ChromeText::computed_value(const Derived& derived, std::string_view name, std::string_view ids) {
  open("{\"ph\":\"C\",\"cat\":\"computed\",\"name\":");
  out_.raw(name);
  out_.raw(",");
  out_.raw(ids);
  out_.raw(",\"ts\":");
  time(derived.start_ns);
  out_.raw(",\"args\":{\"");
  out_.raw(cli::info(derived.track).unit);
  out_.raw("\":");
  out_.real(derived.value);
  out_.raw("}}");
}

void ChromeText::flow(char phase, std::uint64_t id, StringId category, std::string_view ids, std::int64_t ns) {
  open(phase == 's' ? "{\"ph\":\"s\"," : phase == 't' ? "{\"ph\":\"t\"," : "{\"ph\":\"f\",");
  if (category == 0) {
    out_.raw("\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":");
  } else {
    out_.raw("\"cat\":");
    interned(category);
    out_.raw(",\"name\":");
    interned(category);
    out_.raw(",\"id\":");
  }
  flow_place(phase, id, ids, ns);
}

void ChromeText::collective_flow(char phase, std::uint64_t id, std::string_view ids, std::int64_t ns) {
  open(phase == 's' ? "{\"ph\":\"s\"," : "{\"ph\":\"f\",");
  out_.raw("\"cat\":\"collective\",\"name\":\"collective\",\"id\":");
  flow_place(phase, id, ids, ns);
}

void ChromeText::flow_place(char phase, std::uint64_t id, std::string_view ids, std::int64_t ns) {
  out_.number(id);
  out_.raw(",");
  out_.raw(ids);
  out_.raw(",\"ts\":");
  time(ns);
  out_.raw(phase == 's' ? "}" : ",\"bp\":\"e\"}");
}

void ChromeText::names(const Event& event, std::string_view ids, const KernelText* kernel) {
  category(event);
  out_.raw(",\"name\":");
  kernel != nullptr ? out_.raw(kernel->shown) : interned(event.name);
  out_.raw(",");
  out_.raw(ids);
  out_.raw(",\"ts\":");
  time(event.start_ns);
}

void ChromeText::category(const Event& event) {
  out_.raw("\"cat\":");
  if (event.category != 0) return interned(event.category);
  out_.raw("\"");
  out_.raw(info(event.kind).category);
  out_.raw("\"");
}

const ChromeText::KernelText& ChromeText::kernel_text(StringId id) {
  if (id >= kernels_.size()) kernels_.resize(std::max(catalog_->strings.size(), id + std::size_t{1}));
  if (kernels_[id] != nullptr) return *kernels_[id];
  const ShortNames::Name name = short_names_[id];
  const std::string_view color = chrome_color(Kind::kernel, catalog_->strings[id]);
  kernels_[id] = std::make_unique<KernelText>(KernelText{json_quoted(name.shown), "", color});
  if (!name.full.empty()) kernels_[id]->full = "\"full name\":" + json_quoted(name.full);
  return *kernels_[id];
}

void ChromeText::color(std::string_view name) {
  if (name.empty()) return;
  out_.raw(",\"cname\":\"");
  out_.raw(name);
  out_.raw("\"");
}

void ChromeText::interned(StringId id) {
  const std::string_view text = catalog_->strings[id];
  if (id >= spellings_.size()) spellings_.resize(std::max(catalog_->strings.size(), id + std::size_t{1}));
  Spelling& spelling = spellings_[id];
  if (spelling == Spelling::unknown) spelling = json_plain(text) ? Spelling::plain : Spelling::escaped;
  if (spelling == Spelling::escaped) return json_string(out_, text);
  out_.raw("\"");
  out_.raw(text);
  out_.raw("\"");
}

void ChromeText::arguments(const Event& event, std::string_view args, const KernelText* kernel) {
  std::string_view separator = ",\"args\":{";
  const auto member = [&](std::string_view text) {
    out_.raw(separator);
    out_.raw(text);
    separator = ",";
  };
  if (kernel != nullptr && !kernel->full.empty()) member(kernel->full);
  if (!args.empty()) member(args);
  if (event.correlation != 0 && !event.json.args_complete) {
    member("\"correlation\":");
    out_.number(event.correlation);
  }
  if (event.has_bytes && !event.json.args_complete) {
    member("\"bytes\":");
    out_.number(event.bytes);
  }
  if (event.phase == 'X' && event.duration_ns < 0) member("\"unfinished\":true");
  if (event.open_start) member("\"open_start\":true");
  out_.raw(separator.size() == 1 ? "}}" : "}");
}

}  // namespace cli
