// Runs a fuzzer without libFuzzer: every file of the corpus, every truncation of the small ones, and seeded mutations; fewer of
// both under sanitizers. The same inputs in every run, so that a failure can be repeated.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/case_step.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kMutations = 300;        // per file
constexpr std::size_t kMostTruncations = 600;  // per file, spread evenly

using Bytes = std::vector<std::uint8_t>;

void run(const Bytes& bytes) { LLVMFuzzerTestOneInput(bytes.data(), bytes.size()); }

void truncations(const Bytes& bytes) {
  const std::size_t step = std::max<std::size_t>(1, bytes.size() / kMostTruncations) * case_step();
  for (std::size_t length = 0; length < bytes.size(); length += step)
    run(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)));
}

void mutations(const Bytes& bytes, std::mt19937_64& random) {
  if (bytes.empty()) return;
  for (std::size_t i = 0; i < kMutations; i += case_step()) {
    Bytes changed = bytes;
    for (std::size_t flips = 1 + random() % 8; flips > 0; --flips) {
      changed[random() % changed.size()] = static_cast<std::uint8_t>(random());
    }
    run(changed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::mt19937_64 random(20260101);
  std::size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) {
      std::ifstream in(path, std::ios::binary);
      const Bytes bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      run(bytes);
      truncations(bytes);
      mutations(bytes, random);
      ++files;
    }
  }
  std::printf("%zu files of the corpus\n", files);
  return files > 0 ? 0 : 1;
}
