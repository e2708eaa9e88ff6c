#include "cli/formats/kineto/kineto_text.h"

namespace cli {

void KinetoText::separate() {
  out_.raw(first_ ? "\n" : ",\n");
  first_ = false;
}

void KinetoText::lines(std::string_view json) {
  if (json.empty()) return;
  separate();
  out_.raw(json);
}

void KinetoText::line(const KinetoLine& line) {
  separate();
  out_.raw("{\"ph\": \"");
  out_.raw({&line.phase, 1});
  out_.raw("\"");
  if (line.category) member("cat", *line.category);
  member("name", line.name);
  if (!line.ids.empty()) {
    out_.raw(", ");
    out_.raw(line.ids);
  }
  micros("ts",
         static_cast<std::int64_t>(static_cast<std::uint64_t>(line.start_ns) - static_cast<std::uint64_t>(base_ns_)));
  if (line.duration_ns) micros("dur", *line.duration_ns);
  if (line.id) {
    out_.raw(", \"id\": ");
    out_.number(*line.id);
  }
  if (line.scope != 0) member("s", {&line.scope, 1});
  if (line.encloses) out_.raw(", \"bp\": \"e\"");
  arguments(line);
  out_.raw("}");
}

void KinetoText::member(std::string_view key, std::string_view text) {
  out_.raw(", \"");
  out_.raw(key);
  out_.raw("\": ");
  json_string(out_, text);
}

void KinetoText::micros(std::string_view key, std::int64_t ns) {
  out_.raw(", \"");
  out_.raw(key);
  out_.raw(ns < 0 ? "\": -" : "\": ");
  out_.micros(ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns));
}

void KinetoText::arguments(const KinetoLine& line) {
  if (line.args.empty() && line.more_args.empty()) return;
  out_.raw(", \"args\": {");
  out_.raw(line.args);
  if (!line.args.empty() && !line.more_args.empty()) out_.raw(", ");
  out_.raw(line.more_args);
  out_.raw("}");
}

}  // namespace cli
