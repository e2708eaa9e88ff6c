// Replaces the Symbolizer in a build without libdw.
#include "cli/symbols/symbolizer.h"

namespace cli {

struct Symbolizer::State {
  std::vector<SourcePlace> none;
};

Symbolizer::Symbolizer(std::vector<std::string>) : state_(std::make_unique<State>()) {}
Symbolizer::~Symbolizer() = default;
const std::vector<SourcePlace>& Symbolizer::look_up(const CodeObject&, std::uint64_t) { return state_->none; }
std::string Symbolizer::missing(const CodeObject&) { return "tracetool was built without libdw"; }

}  // namespace cli
