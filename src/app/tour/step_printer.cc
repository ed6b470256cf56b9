#include "app/tour/step_printer.h"

#include <iomanip>

#include "item/json_codec.h"

namespace postino::app {

void StepPrinter::step(std::string_view text) {
  if (steps_ > 0) out_ << "\n";
  ++steps_;
  out_ << steps_ << ". " << text << "\n";
}

void StepPrinter::line(std::string_view label, std::string_view text) {
  constexpr int label_width = 12;
  out_ << "   " << std::left << std::setw(label_width) << label << text << "\n";
}

void StepPrinter::line(std::string_view label, const item::Map& item) { line(label, item::to_json(item)); }

void StepPrinter::error(std::string_view label, const store::Error& error) {
  line(label, std::string(store::error_name(error.type)) + ": " + error.message);
}

void StepPrinter::end(std::string_view text) { out_ << "\n" << text << "\n"; }

}  // namespace postino::app
