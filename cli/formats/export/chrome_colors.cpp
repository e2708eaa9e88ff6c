#include "cli/formats/export/chrome_colors.h"

#include "cli/trace/name_classes.h"

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

}  // namespace cli
