// A Perfetto trace as text, a line for each packet, for golden files: written from the protos with protozero's reader.
// Interned things are looked up where they are used: what is not defined by then reads "?".
#pragma once
#include <fmt/format.h>

#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>

namespace pftrace_text {

using protozero::pbf_reader;

struct Sequence {
  std::uint64_t now = 0, track = 0;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> interned;
};

class Text {
 public:
  std::string of(const std::string& trace) {
    pbf_reader packets(trace);
    while (packets.next(1)) packet(packets.get_message());
    return out_;
  }

 private:
  static std::uint64_t number(pbf_reader message, std::uint32_t field) {
    std::uint64_t value = 0;
    while (message.next(field)) value = message.get_uint64();
    return value;
  }
  static std::string text(pbf_reader message, std::uint32_t field) {
    std::string value;
    while (message.next(field)) value = message.get_string();
    return value;
  }
  static pbf_reader message(pbf_reader from, std::uint32_t field) {
    return from.next(field) ? from.get_message() : pbf_reader();
  }
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...) + '\n';
  }

  void packet(pbf_reader p) {
    const std::uint64_t id = number(p, 10);
    Sequence& s = sequences_[id];
    if (number(p, 13) == 1) line("sequence {} begins{}", id, opened(message(p, 59), s));
    if (p.length() > 0 && message(p, 6)) clock(message(p, 6));
    if (message(p, 12)) intern(message(p, 12), s);
    s.now += number(p, 8);
    if (message(p, 60)) describe(message(p, 60));
    if (message(p, 128)) gpus(message(p, 128));
    if (message(p, 11)) event(message(p, 11), id, s);
    if (message(p, 53)) stage(message(p, 53), id, s);
  }

  std::string opened(pbf_reader defaults, Sequence& s) {
    s.track = number(message(defaults, 11), 11);
    return s.track == 0 ? "" : fmt::format(" on track {}", s.track);
  }

  void clock(pbf_reader snapshot) {
    for (pbf_reader all = snapshot; all.next(1);) {
      pbf_reader c = all.get_message();
      line("  clock {} = {}{}", number(c, 1), number(c, 2), number(c, 3) ? ", counting on" : "");
    }
    if (number(snapshot, 2)) line("  the trace's clock is {}", number(snapshot, 2));
  }

  void intern(pbf_reader interned, Sequence& s) {
    while (interned.next()) {
      const std::uint32_t field = interned.tag();
      pbf_reader entry = interned.get_message();
      const bool plain = field != 23 && field != 1000;
      s.interned[{field, number(entry, 1)}] = plain ? text(entry, 2) : fmt::format("#{}", number(entry, 1));
    }
  }

  static std::string look_up(const Sequence& s, std::uint32_t field, std::uint64_t iid) {
    const auto found = s.interned.find({field, iid});
    return found == s.interned.end() ? "?" : found->second;
  }

  void describe(pbf_reader t) {
    std::string what = message(t, 3)   ? fmt::format("process {}", number(message(t, 3), 1))
                       : message(t, 4) ? fmt::format("thread {}/{}", number(message(t, 4), 1), number(message(t, 4), 2))
                       : message(t, 8) ? fmt::format("counter in '{}'", text(message(t, 8), 6))
                                       : "row";
    if (number(t, 5)) what += fmt::format(" of {}", number(t, 5));
    line("track {}: {} '{}' at {}{}", number(t, 1), what, text(t, 2), number(t, 12), note(text(t, 14)));
  }
  static std::string note(const std::string& text) { return text.empty() ? "" : " (" + text + ')'; }

  void gpus(pbf_reader info) {
    while (info.next(1)) {
      pbf_reader gpu = info.get_message();
      line("gpu '{}' {}", text(gpu, 1), text(gpu, 3));
    }
  }

  void event(pbf_reader e, std::uint64_t id, const Sequence& s) {
    static const char* const kTypes[] = {"?", "begin", "end", "instant", "value"};
    std::string words = fmt::format("{}: +{} {}", id, s.now, kTypes[number(e, 9)]);
    const std::string name = number(e, 10) ? look_up(s, 2, number(e, 10)) : text(e, 23);
    if (number(e, 3)) words += fmt::format(" {} '{}'", look_up(s, 1, number(e, 3)), name);
    while (e.next()) {
      if (e.tag() == 47) {
        words += fmt::format(" arrow {:x}", e.get_fixed64());
      } else if (e.tag() == 4) {
        words += annotation(e.get_message(), s, 3);
      } else if (e.tag() == 30) {
        words += fmt::format(" {}", e.get_int64());
      } else if (e.tag() == 44) {
        words += fmt::format(" {}", e.get_double());
      } else if (e.tag() == 3000) {
        for (pbf_reader ids = e.get_message(); ids.next(1);) words += fmt::format(" submits {:x}", ids.get_uint64());
      } else {
        e.skip();
      }
    }
    line("{}", words);
  }

  // Of a stage's argument the value fields differ; these tests have only what the two have in common.
  static std::string annotation(pbf_reader a, const Sequence& s, std::uint32_t keys) {
    std::string key, value = "?";
    while (a.next()) {
      if (a.tag() == 1) {
        key = look_up(s, keys, a.get_uint64());
      } else if (a.tag() == 10) {
        key = a.get_string();
      } else if (a.tag() == 5) {
        value = fmt::format("{}", a.get_double());
      } else if (a.tag() == 6) {
        value = '"' + a.get_string() + '"';
      } else if (a.tag() == 7 || a.tag() == 17) {
        value = '\'' + look_up(s, 29, a.get_uint64()) + '\'';
      } else {
        value = fmt::format("{}", a.get_int64());
      }
    }
    return fmt::format(" {}={}", key, value);
  }

  void stage(pbf_reader e, std::uint64_t id, const Sequence& s) {
    std::string words =
        fmt::format("{}: +{} {} '{}' for {} ns on gpu {} {}", id, s.now, look_up(s, 24, number(e, 14)),
                    look_up(s, 2, number(e, 20)), number(e, 2), number(e, 11), look_up(s, 24, number(e, 13)));
    words += fmt::format(", stage {:x}, context {}", number(e, 1), look_up(s, 23, number(e, 5)));
    for (pbf_reader launch = message(e, 21); launch.next();) {
      const bool argument = launch.tag() == 3;
      pbf_reader part = launch.get_message();
      words += argument ? annotation(part, s, 1001)
                        : fmt::format(" {}x{}x{}", number(part, 1), number(part, 2), number(part, 3));
    }
    line("{}", words);
  }

  std::string out_;
  std::map<std::uint64_t, Sequence> sequences_;
};

}  // namespace pftrace_text
