#include "cli/export/kineto_args.h"

#include <fmt/format.h>

namespace cli {

std::string_view argument(std::string_view args, std::string_view key) {
  const std::string member = fmt::format("\"{}\": ", key);
  const std::size_t at = args.find(member);
  if (at == args.npos) return {};
  std::string_view value = args.substr(at + member.size());
  value = value.substr(0, value.find(','));
  if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
  return value;
}

}  // namespace cli
