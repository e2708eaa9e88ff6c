#pragma once
#include <string>

#include "cli/base/output_file.h"

struct TextSink : cli::ByteSink {
  void write(std::string_view bytes) override { text += bytes; }
  void finish() override {}
  std::string text;
};
