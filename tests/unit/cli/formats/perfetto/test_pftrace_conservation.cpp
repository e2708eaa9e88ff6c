// Whatever the events, the native form holds what its summary says, with and without render stages.
#include <map>
#include <random>
#include <sstream>

#include "cli/formats/perfetto/pftrace.h"
#include "pftrace_text.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/export/small_trace.h"

using namespace cli;

namespace {

SmallTrace random_trace(unsigned seed) {
  std::mt19937 random(seed);
  SmallTrace t;
  std::vector<TrackId> tracks;
  for (int rank = 0; rank < 2; ++rank) {
    const ProcessId p = t.process(rank, rank == 1);
    for (const TrackId id : {t.thread(p, 1), t.stream(p, 1), t.stream(p, 7)}) tracks.push_back(id);
  }
  for (int i = 0; i < 1000; ++i) {
    const auto kind = static_cast<Kind>(random() % static_cast<unsigned>(Kind::count_));
    const TrackId track = tracks[random() % tracks.size()];
    const std::int64_t start = random() % 2000;
    if (kind == Kind::flow) {
      t.point(track, kind, "stf"[random() % 3], random() % 2 ? "ac2g" : "fwdbwd", start, random() % 200);
    } else {
      t.add(track, kind, "slice", start, random() % 20 == 0 ? kUnknownDuration : random() % 100, random() % 200);
    }
  }
  return t;
}

struct Counted {
  std::size_t begins = 0, ends = 0, stages = 0;
  std::map<std::string, int> on_slices, submitted, on_stages;  // ids of flows

  explicit Counted(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      begins += line.find(" begin ") != line.npos, ends += line.find(" end") != line.npos;
      stages += line.find(", stage ") != line.npos;
      note(line, " arrow ", on_slices), note(line, " submits ", submitted), note(line, ", stage ", on_stages);
    }
  }
  std::size_t flows() const {
    std::size_t between_slices = 0, to_stages = 0;
    for (const auto& [id, times] : on_slices) between_slices += times == 2;
    for (const auto& [id, times] : on_stages) to_stages += times == 1 && submitted.count(id) != 0;
    return between_slices + to_stages;
  }
  bool every_id_has_two_ends() const {
    for (const auto& [id, times] : on_slices) {
      if (times + (on_stages.count(id) != 0 && submitted.count(id) != 0 ? 1 : 0) != 2) return false;
    }
    return true;
  }

 private:
  static void note(const std::string& line, const std::string& word, std::map<std::string, int>& ids) {
    for (std::size_t at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
      const std::size_t id = at + word.size();
      ++ids[line.substr(id, line.find_first_of(" ,", id) - id)];
    }
  }
};

}  // namespace

TEST_CASE("pftrace: whatever the events, each is in the picture or counted", "[property][slow]") {
  for (const bool gpu_tracks : {false, true}) {
    for (unsigned seed = 0; seed < 50; ++seed) {
      SmallTrace t = random_trace(seed);
      const std::string text = pftrace_text::Text().of(t.write(make_pftrace({PacketCompression::none, gpu_tracks})));
      const Counted counted(text);
      REQUIRE(t.summary.balanced());
      REQUIRE(counted.begins == counted.ends);
      REQUIRE(counted.begins + counted.stages == t.summary.slices_out);
      REQUIRE((counted.stages > 0) == gpu_tracks);
      REQUIRE(counted.flows() == t.summary.flows_out);
      REQUIRE(counted.every_id_has_two_ends());
      REQUIRE(text.find('?') == text.npos);
    }
  }
}
