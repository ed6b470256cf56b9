// Writes the requests of DynamoDB's protocol.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "expr/placeholders.h"
#include "item/json_codec.h"
#include "json/writer.h"
#include "store/expression.h"
#include "store/item_operations.h"
#include "store/words.h"

namespace postino::remote {

class RequestWriter final : public json::BasicWriter<RequestWriter> {
 public:
  using BasicWriter::BasicWriter;

  RequestWriter& item(const item::Map& item) {
    separate();
    item::append_json(out_, item);
    return written();
  }

  // Members; one that is absent is not written.
  RequestWriter& text(std::string_view name, std::string_view value) { return key(name).string(value); }
  // A text, or an expression.
  template <class Text>
  RequestWriter& text(std::string_view name, const std::optional<Text>& value) {
    if (!value) return *this;
    if constexpr (std::is_same_v<Text, std::string>)
      return key(name).string(*value);
    else
      return key(name).string(value->text());
  }
  template <class Number>
  RequestWriter& number(std::string_view name, const std::optional<Number>& value) {
    return value ? key(name).integer(*value) : *this;
  }
  template <class Enum>
  RequestWriter& word(std::string_view name, Enum value) {
    return key(name).string(store::word_for(value));
  }
  template <class Enum>
  RequestWriter& word(std::string_view name, const std::optional<Enum>& value) {
    return value ? word(name, *value) : *this;
  }
  RequestWriter& flag(std::string_view name, bool is_set) { return is_set ? key(name).boolean(true) : *this; }
  RequestWriter& texts(std::string_view name, const std::vector<std::string>& values);

  RequestWriter& placeholders(const expr::Placeholders& placeholders);
  // Always asked for, with the part of each index, because it is counted.
  RequestWriter& capacity_wanted() { return word("ReturnConsumedCapacity", store::ReturnConsumedCapacity::indexes); }
  // What every write reports.
  RequestWriter& report(const store::WriteReport& report) {
    if (report.item_collection_metrics) text("ReturnItemCollectionMetrics", "SIZE");
    return capacity_wanted();
  }
  RequestWriter& item_on_failure(bool is_wanted) {
    return is_wanted ? text("ReturnValuesOnConditionCheckFailure", "ALL_OLD") : *this;
  }
};

}  // namespace postino::remote
