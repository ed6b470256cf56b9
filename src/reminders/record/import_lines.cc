#include "reminders/record/import_lines.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "json/document.h"
#include "json/string.h"
#include "reminders/record/keys.h"
#include "reminders/text/csv.h"

namespace postino::reminders {

namespace {

constexpr std::string_view is_required = "is required";
constexpr std::string_view utf8_rule = "must be UTF-8";
// A double has as many digits for certain.
constexpr std::ptrdiff_t exact_digits = 15;

using ReadLines = base::Result<std::vector<ImportLine>, json::FieldError>;

tl::unexpected<json::FieldError> unreadable(std::string where, std::string rule) {
  return base::propagate(json::FieldError{std::move(where), std::move(rule)});
}

// Names of columns, and what a line has there. Empty values are not in it.
using ImportRow = std::map<std::string, std::string, std::less<>>;

const ImportColumn* find_column(ImportKind kind, std::string_view name) {
  const auto& columns = import_columns(kind);
  const auto found = std::ranges::find_if(columns, [&](const ImportColumn& column) {
    return name == column.name || (!name.empty() && name == column.short_name);
  });
  return found == columns.end() ? nullptr : &*found;
}

std::string column_names(ImportKind kind) {
  std::string names;
  for (const ImportColumn& column : import_columns(kind)) names.append(names.empty() ? "" : ", ").append(column.name);
  return names;
}

std::string text_in(const ImportRow& row, std::string_view name) {
  const auto found = row.find(name);
  return found == row.end() ? std::string() : found->second;
}

std::optional<bool> truth_of(const std::string& text) {
  const std::string lower = base::lower_case(text);
  if (lower == "true" || lower == "yes" || lower == "1") return true;
  if (lower.empty() || lower == "false" || lower == "no" || lower == "0") return false;
  return std::nullopt;
}

void read_customer_row(const ImportRow& row, ImportLine& line) {
  Customer customer;
  customer.id = text_in(row, "customer_id");
  customer.name = text_in(row, "customer_name");
  customer.email = text_in(row, "customer_email");
  const auto opted_out = truth_of(text_in(row, "opted_out"));
  if (!opted_out) line.faults.push_back({"opted_out", "must be true or false"});
  customer.opted_out = opted_out.value_or(false);
  line.says_more = row.contains("opted_out");
  line.customer = std::move(customer);
}

void read_invoice_row(const ImportRow& row, ImportLine& line) {
  Invoice invoice;
  invoice.customer_id = text_in(row, "customer_id");
  invoice.id = text_in(row, "invoice_id");
  invoice.due_date = text_in(row, "due_date");
  const std::string currency = text_in(row, "currency");
  const auto amount_in = [&](const std::string& name) {
    const auto found = row.find(name);
    if (found == row.end()) return Money{item::Number(), currency};
    auto money = Money::parse(found->second, currency);
    if (!is_currency(currency))
      line.faults.push_back({"currency", std::string(currency_rule)});
    else if (!money)
      line.faults.push_back({name, money.error().message});
    return money ? *std::move(money) : Money();
  };
  const bool has_currency = row.contains("currency");
  if (has_currency) invoice.amount = amount_in("amount");
  if (has_currency && line.faults.empty()) invoice.paid = amount_in("paid").amount;
  line.says_more = row.contains("paid");
  if (const auto found = row.find("paid_at"); found != row.end()) {
    invoice.paid_at = parse_seed_time(found->second);
    if (!invoice.paid_at) line.faults.push_back({"paid_at", "must be a day or a time, such as 2026-11-15T09:30:00Z"});
  }
  line.invoice = std::move(invoice);
}

ImportLine line_of(ImportKind kind, int number, const ImportRow& row) {
  ImportLine line;
  line.line = number;
  for (const ImportColumn& column : import_columns(kind))
    if (column.is_needed && !row.contains(column.name))
      line.faults.push_back({std::string(column.name), std::string(is_required)});
  if (kind == ImportKind::customers)
    read_customer_row(row, line);
  else
    read_invoice_row(row, line);
  return line;
}

ImportLine faulty_line(int number, std::string field, std::string rule) {
  ImportLine line;
  line.line = number;
  line.faults.push_back({std::move(field), std::move(rule)});
  return line;
}

base::Result<std::vector<const ImportColumn*>, json::FieldError> read_header(
    ImportKind kind, const std::optional<CsvReader::Record>& header) {
  if (!header) return unreadable("line 1", "must name the columns: " + column_names(kind));
  const std::string field = "line " + std::to_string(header->line);
  if (!header->fault.empty()) return unreadable(field, header->fault);
  std::vector<const ImportColumn*> columns;
  for (const std::string& name : header->fields) {
    if (!json::is_utf8(name)) return unreadable(field, std::string(utf8_rule));
    const ImportColumn* const column = find_column(kind, base::lower_case(base::trim(name)));
    if (column == nullptr) {
      std::string shown;
      base::append_printable(shown, name, longest_record_id);
      return unreadable(field, "must not have the column \"" + shown + "\"; columns are " + column_names(kind));
    }
    if (std::ranges::find(columns, column) != columns.end())
      return unreadable(field, "must not have the column " + std::string(column->name) + " twice");
    columns.push_back(column);
  }
  for (const ImportColumn& column : import_columns(kind))
    if (column.is_needed && std::ranges::find(columns, &column) == columns.end())
      return unreadable(field, "must have the column " + std::string(column.name));
  return columns;
}

tl::unexpected<json::FieldError> refuse_many_lines() {
  return unreadable("body", "must not have more than " + std::to_string(max_import_lines) + " lines");
}

ReadLines read_csv(ImportKind kind, std::string_view text) {
  CsvReader reader(text);
  TRY(const std::vector<const ImportColumn*> columns, read_header(kind, reader.next()));
  std::vector<ImportLine> lines;
  while (auto record = reader.next()) {
    if (lines.size() == max_import_lines) return refuse_many_lines();
    if (record->fault.empty() && record->fields.size() != columns.size())
      record->fault = "must have " + std::to_string(columns.size()) + " fields, as the first line";
    if (!record->fault.empty()) {
      lines.push_back(faulty_line(record->line, "", std::move(record->fault)));
      continue;
    }
    const auto broken = std::ranges::find_if_not(record->fields, json::is_utf8);
    if (broken != record->fields.end()) {
      const auto column = static_cast<std::size_t>(broken - record->fields.begin());
      lines.push_back(faulty_line(record->line, std::string(columns[column]->name), std::string(utf8_rule)));
      continue;
    }
    ImportRow row;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string value = without_apostrophe(std::move(record->fields[i]));
      if (const std::string_view trimmed = base::trim(value); !trimmed.empty()) row.emplace(columns[i]->name, trimmed);
    }
    lines.push_back(line_of(kind, record->line, row));
  }
  return lines;
}

// nullopt for what is none. Numbers as they were written: more digits than a double has would be others.
std::optional<std::string> plain_text(json::Element element) {
  using Type = json::Element::Type;
  switch (element.type()) {
    case Type::null:
      return "";
    case Type::string:
      return std::string(*element.text());
    case Type::boolean:
      return *element.boolean() ? "true" : "false";
    case Type::integer:
    case Type::unsigned_integer:
      return element.compact();
    case Type::number: {
      std::string text = element.compact();
      const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
      if (std::ranges::count_if(text, is_digit) <= exact_digits) return text;
      return std::nullopt;
    }
    case Type::array:
    case Type::object:
      break;
  }
  return std::nullopt;
}

// The number of the line in the file is told beside the rule.
std::string within_line(std::string rule) {
  constexpr std::string_view line = "line 1, ";
  if (const std::size_t begin = rule.find(line); begin != std::string::npos) rule.erase(begin, line.size());
  return rule;
}

ImportLine read_json_line(ImportKind kind, int number, std::string_view text, json::Document& document) {
  json::FieldErrors errors;
  if (!document.parse(text, errors)) {
    const json::FieldError& error = errors.list().front();
    return faulty_line(number, error.field, within_line(error.rule));
  }
  if (!document.root().is_object()) return faulty_line(number, "", "must be a JSON object");
  ImportRow row;
  for (const auto& [name, element] : document.root().members()) {
    const ImportColumn* const column = find_column(kind, name);
    std::string shown;
    base::append_printable(shown, name, longest_record_id);
    if (column == nullptr) return faulty_line(number, shown, "is not known; members are " + column_names(kind));
    const auto value = plain_text(element);
    if (!value) return faulty_line(number, shown, "must be a string, because numbers of JSON are not exact");
    const std::string_view trimmed = base::trim(*value);
    if (!trimmed.empty() && !row.emplace(column->name, trimmed).second)
      return faulty_line(number, shown, "must not occur twice");
  }
  return line_of(kind, number, row);
}

ReadLines read_json_lines(ImportKind kind, std::string_view text) {
  text = without_byte_order_mark(text);
  json::Document document;
  std::vector<ImportLine> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = base::trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (lines.size() == max_import_lines) return refuse_many_lines();
    if (line.size() > CsvReader::max_record_bytes)
      lines.push_back(
          faulty_line(number, "", "must not be longer than " + std::to_string(CsvReader::max_record_bytes) + " bytes"));
    else if (!json::is_utf8(line))
      lines.push_back(faulty_line(number, "", std::string(utf8_rule)));
    else
      lines.push_back(read_json_line(kind, number, line, document));
  }
  return lines;
}

}  // namespace

const std::vector<ImportColumn>& import_columns(ImportKind kind) {
  static const std::vector<ImportColumn> of_customers = {
      {"customer_id", "id"}, {"customer_name", "name"}, {"customer_email", "email"}, {"opted_out", "", false}};
  static const std::vector<ImportColumn> of_invoices = {
      {"customer_id", ""}, {"invoice_id", "id"}, {"amount", ""},        {"currency", ""},
      {"due_date", ""},    {"paid", "", false},  {"paid_at", "", false}};
  return kind == ImportKind::customers ? of_customers : of_invoices;
}

base::Result<std::vector<ImportLine>, json::FieldError> read_import(ImportKind kind, ImportFormat format,
                                                                    std::string_view text) {
  if (text.size() > max_import_bytes)
    return unreadable("body", "must not be longer than " + std::to_string(max_import_bytes) + " bytes");
  return format == ImportFormat::csv ? read_csv(kind, text) : read_json_lines(kind, text);
}

}  // namespace postino::reminders
