#include "capacity/price_book.h"

#include <algorithm>

#include "base/text.h"
#include "base/timestamp.h"
#include "json/writer.h"

namespace postino::capacity {

namespace {

using json::Fields;
using Need = Fields::Need;

bool is_date(const std::string& text) {
  return text.size() == 10 && base::parse_timestamp(text + "T00:00:00Z").has_value();
}

bool is_currency_code(std::string_view text) {
  return text.size() == 3 && std::ranges::all_of(text, [](char each) { return each >= 'A' && each <= 'Z'; });
}

std::string read_line(Fields& fields, std::string_view name) {
  const auto text = fields.text(name, Need::required, PriceLimits::text_bytes);
  if (!text) return "";
  if (text->empty() || base::has_control_character(*text))
    fields.refuse(name, "must be a text of one line, which is not empty");
  return std::string(*text);
}

// A text, because a number of JSON has passed through binary fractions by the time it is read.
Decimal read_price(Fields& fields, std::string_view name) {
  const auto element = fields.any(name, Need::required);
  if (!element) return {};
  const auto text = element->text();
  if (!text) {
    fields.refuse(name, R"(must be a decimal in quotes, such as "0.625")");
    return {};
  }
  const auto price = Decimal::parse(*text, PriceLimits::places);
  if (!price) {
    fields.refuse(name, price.error().message);
    return {};
  }
  if (*price > Decimal(PriceLimits::most)) {
    fields.refuse(name, "must not be more than " + std::to_string(PriceLimits::most));
    return {};
  }
  return *price;
}

ClassPrices read_class(Fields& book, std::string_view name) {
  const auto element = book.any(name, Need::required);
  if (!element) return {};
  Fields fields(*element, book.path_of(name), book.errors());
  ClassPrices prices;
  prices.on_demand_read_million = read_price(fields, "on_demand_read_million");
  prices.on_demand_write_million = read_price(fields, "on_demand_write_million");
  prices.provisioned_read_hour = read_price(fields, "provisioned_read_hour");
  prices.provisioned_write_hour = read_price(fields, "provisioned_write_hour");
  prices.storage_gb_month = read_price(fields, "storage_gb_month");
  fields.refuse_others();
  return prices;
}

FreeTier read_free_tier(Fields& book) {
  const auto element = book.any("free", Need::required);
  if (!element) return {};
  Fields fields(*element, book.path_of("free"), book.errors());
  const auto count = [&fields](std::string_view name) {
    return fields.integer(name, Need::required, 0, PriceLimits::most_free).value_or(0);
  };
  FreeTier free;
  free.storage_gb = count("storage_gb");
  free.read_units = count("provisioned_read_units");
  free.write_units = count("provisioned_write_units");
  free.stream_reads = count("stream_reads");
  fields.refuse_others();
  return free;
}

void write_class(json::Writer& json, std::string_view name, const ClassPrices& prices) {
  json.key(name).begin_object();
  json.key("on_demand_read_million").string(prices.on_demand_read_million.text());
  json.key("on_demand_write_million").string(prices.on_demand_write_million.text());
  json.key("provisioned_read_hour").string(prices.provisioned_read_hour.text());
  json.key("provisioned_write_hour").string(prices.provisioned_write_hour.text());
  json.key("storage_gb_month").string(prices.storage_gb_month.text());
  json.end_object();
}

}  // namespace

std::string_view name_of(StorageClass storage_class) {
  return storage_class == StorageClass::standard ? "standard" : "infrequent_access";
}

std::optional<PriceBook> read_price_book(std::string_view text, json::FieldErrors& errors) {
  if (text.size() > PriceLimits::file_bytes) {
    errors.add("", "must not have more than " + std::to_string(PriceLimits::file_bytes) + " bytes");
    return std::nullopt;
  }
  json::Document document;
  if (!document.parse(text, errors)) return std::nullopt;
  Fields fields(document.root(), "", errors);
  PriceBook book;
  book.name = read_line(fields, "name");
  book.region = read_line(fields, "region");
  book.currency = read_line(fields, "currency");
  if (!book.currency.empty() && !is_currency_code(book.currency))
    fields.refuse("currency", "must be the three capital letters of a currency, such as USD");
  book.valid_from = read_line(fields, "valid_from");
  if (!book.valid_from.empty() && !is_date(book.valid_from))
    fields.refuse("valid_from", "must be a date such as 2024-11-01");
  book.hours_per_month =
      fields.integer("hours_per_month", Need::required, PriceLimits::least_hours, PriceLimits::most_hours).value_or(0);
  book.standard = read_class(fields, "standard");
  book.infrequent_access = read_class(fields, "infrequent_access");
  book.stream_reads_100000 = read_price(fields, "stream_reads_100000");
  book.free = read_free_tier(fields);
  fields.refuse_others();
  if (!errors.empty()) return std::nullopt;
  return book;
}

base::Result<PriceBook> read_price_file(const std::string& file_name, std::string_view text) {
  json::FieldErrors errors;
  auto book = read_price_book(text, errors);
  if (book) return *std::move(book);
  std::string lines;
  for (const json::FieldError& error : errors.list()) {
    if (!lines.empty()) lines += "\n";
    lines += file_name + ": " + (error.field.empty() ? "" : error.field + ": ") + error.rule;
  }
  return base::invalid(std::move(lines));
}

std::string to_json(const PriceBook& book) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("name").string(book.name);
  json.key("region").string(book.region);
  json.key("currency").string(book.currency);
  json.key("valid_from").string(book.valid_from);
  json.key("hours_per_month").integer(book.hours_per_month);
  write_class(json, "standard", book.standard);
  write_class(json, "infrequent_access", book.infrequent_access);
  json.key("stream_reads_100000").string(book.stream_reads_100000.text());
  json.key("free").begin_object();
  json.key("storage_gb").integer(book.free.storage_gb);
  json.key("provisioned_read_units").integer(book.free.read_units);
  json.key("provisioned_write_units").integer(book.free.write_units);
  json.key("stream_reads").integer(book.free.stream_reads);
  json.end_object();
  json.end_object();
  return text;
}

}  // namespace postino::capacity
