#include "exchange/csv.h"

#include <algorithm>
#include <set>

#include "base/base64.h"
#include "base/text.h"

namespace postino::exchange {

base::Result<std::vector<std::string>> split_csv(std::string_view line, char delimiter) {
  std::vector<std::string> fields;
  std::size_t place = 0;
  while (true) {
    std::string field;
    if (place < line.size() && line[place] == '"') {
      ++place;
      while (true) {
        const std::size_t quote = line.find('"', place);
        if (quote == std::string_view::npos)
          return base::fail(base::ErrorCode::malformed, "CSV: a field in quotes has no end");
        field.append(line.substr(place, quote - place));
        place = quote + 1;
        if (place >= line.size() || line[place] != '"') break;
        field += '"';
        ++place;
      }
      if (place < line.size() && line[place] != delimiter)
        return base::fail(base::ErrorCode::malformed, "CSV: there is something behind a field in quotes");
    } else {
      const std::size_t end = std::min(line.find(delimiter, place), line.size());
      field = line.substr(place, end - place);
      if (field.find('"') != std::string::npos)
        return base::fail(base::ErrorCode::malformed, "CSV: a field without quotes must have none inside");
      place = end;
    }
    fields.push_back(std::move(field));
    if (place >= line.size()) return fields;
    ++place;
  }
}

base::Result<void> CsvItems::take_header(std::string_view line) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  TRY(std::vector<std::string> names, split_csv(line, delimiter_));
  const std::set<std::string> different(names.begin(), names.end());
  if (different.size() != names.size() || different.contains(""))
    return base::invalid("CSV: the header must have different names, none of which is empty");
  header_ = std::move(names);
  return {};
}

base::Result<item::Item> CsvItems::item_of(std::string_view line) const {
  TRY(std::vector<std::string> fields, split_csv(line, delimiter_));
  if (fields.size() != header_->size())
    return base::invalid("CSV: the line has " + std::to_string(fields.size()) + " fields, and the header " +
                         std::to_string(header_->size()));
  std::vector<item::Attribute> attributes;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string& name = (*header_)[i];
    const auto key = keys_.find(name);
    if (key == keys_.end() || key->second == item::Type::string) {
      attributes.push_back({name, std::move(fields[i])});
    } else if (key->second == item::Type::number) {
      TRY(item::Number number, item::Number::parse(base::trim(fields[i])));
      attributes.push_back({name, number});
    } else {
      TRY(std::string bytes, base::from_base64(fields[i]));
      attributes.push_back({name, item::Binary{std::move(bytes)}});
    }
  }
  return item::Item(std::move(attributes));
}

}  // namespace postino::exchange
