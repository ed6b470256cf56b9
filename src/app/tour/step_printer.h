// Prints the tour: numbered steps in plain words, each followed by requests and answers as DynamoDB's JSON.
#pragma once

#include <ostream>
#include <string_view>

#include "item/value.h"
#include "store/error.h"

namespace postino::app {

class StepPrinter {
 public:
  explicit StepPrinter(std::ostream& out) : out_(out) {}

  void step(std::string_view text);
  // A line below the step: what it is, and what it says.
  void line(std::string_view label, std::string_view text);
  void line(std::string_view label, const item::Map& item);
  void error(std::string_view label, const store::Error& error);
  void end(std::string_view text);

 private:
  std::ostream& out_;
  int steps_ = 0;
};

}  // namespace postino::app
