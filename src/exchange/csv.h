// Items of comma-separated values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/value.h"

namespace postino::exchange {

// The fields of one line; malformed when quotes do not fit.
base::Result<std::vector<std::string>> split_csv(std::string_view line, char delimiter);

// Lines become items. Attributes of keys have the types of the table; all others are texts.
class CsvItems {
 public:
  // Without a header, the first line of each object is it.
  CsvItems(char delimiter, std::optional<std::vector<std::string>> header, std::map<std::string, item::Type> keys)
      : delimiter_(delimiter), header_(std::move(header)), keys_(std::move(keys)) {}

  bool needs_header() const { return !header_; }
  base::Result<void> take_header(std::string_view line);
  void forget_header() { header_.reset(); }
  base::Result<item::Item> item_of(std::string_view line) const;

 private:
  const char delimiter_;
  std::optional<std::vector<std::string>> header_;
  const std::map<std::string, item::Type> keys_;
};

}  // namespace postino::exchange
