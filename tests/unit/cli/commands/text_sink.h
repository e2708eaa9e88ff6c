#pragma once
#include <string>

#include "cli/base/sinks.h"

struct TextSink : cli::ByteSink {
  void write(std::string_view bytes) override { text += bytes; }
  void finish() override {}
  std::string text;
};
