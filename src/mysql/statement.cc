#include "mysql/statement.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <string>

namespace postino::mysql {

namespace {

using MetadataHandle = std::unique_ptr<MYSQL_RES, decltype([](MYSQL_RES* result) { mysql_free_result(result); })>;

MYSQL_BIND empty_binding() {
  MYSQL_BIND binding;
  std::memset(&binding, 0, sizeof binding);
  return binding;
}

// The library takes what is to be sent through pointers that are not const, and only reads there.
void bind_bytes(MYSQL_BIND& binding, enum_field_types type, std::string_view bytes) {
  binding.buffer_type = type;
  binding.buffer = const_cast<char*>(bytes.empty() ? "" : bytes.data());
  binding.buffer_length = bytes.size();
}

void bind_parameter(MYSQL_BIND& binding, const Parameter& parameter) {
  binding = empty_binding();
  binding.buffer_type = MYSQL_TYPE_NULL;
  const Parameter::Content& content = parameter.content();
  if (const auto* number = std::get_if<std::int64_t>(&content)) {
    binding.buffer_type = MYSQL_TYPE_LONGLONG;
    binding.buffer = const_cast<std::int64_t*>(number);
  } else if (const auto* text = std::get_if<std::string_view>(&content)) {
    bind_bytes(binding, MYSQL_TYPE_STRING, *text);
  } else if (const auto* bytes = std::get_if<Bytes>(&content)) {
    bind_bytes(binding, MYSQL_TYPE_BLOB, bytes->octets);
  }
}

}  // namespace

Result<std::unique_ptr<Statement>> Statement::prepare(MYSQL* connection, std::string_view sql) {
  StatementHandle handle(mysql_stmt_init(connection));
  if (handle == nullptr) return base::propagate(last_error(connection));
  if (mysql_stmt_prepare(handle.get(), sql.data(), sql.size()) != 0) return base::propagate(last_error(handle.get()));
  std::unique_ptr<Statement> statement(new Statement(connection, std::move(handle)));
  statement->parameters_.resize(mysql_stmt_param_count(statement->handle_.get()));
  TRY_VOID(statement->bind_columns());
  return statement;
}

Result<void> Statement::bind_columns() {
  const MetadataHandle metadata(mysql_stmt_result_metadata(handle_.get()));
  if (metadata == nullptr) return {};
  const std::span<const MYSQL_FIELD> fields(mysql_fetch_fields(metadata.get()), mysql_num_fields(metadata.get()));
  columns_.resize(fields.size());
  std::vector<MYSQL_BIND> bindings(fields.size(), empty_binding());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Column& column = columns_[i];
    MYSQL_BIND& binding = bindings[i];
    binding.is_null = &column.is_null;
    switch (fields[i].type) {
      case MYSQL_TYPE_TINY:
      case MYSQL_TYPE_SHORT:
      case MYSQL_TYPE_INT24:
      case MYSQL_TYPE_LONG:
      case MYSQL_TYPE_LONGLONG:
      case MYSQL_TYPE_YEAR:
        column.kind = Column::Kind::number;
        column.is_unsigned = (fields[i].flags & UNSIGNED_FLAG) != 0;
        binding.buffer_type = MYSQL_TYPE_LONGLONG;
        binding.buffer = &column.number;
        binding.is_unsigned = column.is_unsigned ? 1 : 0;
        break;
      case MYSQL_TYPE_FLOAT:
      case MYSQL_TYPE_DOUBLE:
        column.kind = Column::Kind::real;
        binding.buffer_type = MYSQL_TYPE_DOUBLE;
        binding.buffer = &column.real;
        break;
      default:  // of no length: fetching a row tells the text's length alone
        binding.buffer_type = MYSQL_TYPE_STRING;
        binding.length = &column.length;
    }
  }
  if (mysql_stmt_bind_result(handle_.get(), bindings.data()) != 0) return base::propagate(last_error(handle_.get()));
  return {};
}

Result<void> Statement::send(std::span<const Parameter> parameters) {
  if (parameters.size() != parameters_.size())
    return fail(ErrorKind::other, 0,
                "the statement has " + std::to_string(parameters_.size()) + " placeholders, and " +
                    std::to_string(parameters.size()) + " parameters were given");
  for (std::size_t i = 0; i < parameters.size(); ++i) bind_parameter(parameters_[i], parameters[i]);
  if (!parameters_.empty() && mysql_stmt_bind_param(handle_.get(), parameters_.data()) != 0)
    return base::propagate(last_error(handle_.get()));
  if (mysql_stmt_execute(handle_.get()) != 0) return base::propagate(last_error(handle_.get()));
  // INSERT ... RETURNING has no columns before it is executed.
  if (mysql_stmt_field_count(handle_.get()) != columns_.size()) return bind_columns();
  return {};
}

Result<Rows> Statement::query(std::span<const Parameter> parameters) {
  TRY_VOID(send(parameters));
  Rows rows;
  rows.columns_ = columns_.size();
  if (columns_.empty()) return rows;
  // Row by row as they arrive: the library keeps none of them.
  for (;;) {
    const int outcome = mysql_stmt_fetch(handle_.get());
    if (outcome == MYSQL_NO_DATA) return rows;
    if (outcome != 0 && outcome != MYSQL_DATA_TRUNCATED) return base::propagate(last_error(connection_));
    for (std::size_t i = 0; i < columns_.size(); ++i) TRY_VOID(fetch(i, rows));
  }
}

Result<std::uint64_t> Statement::execute(std::span<const Parameter> parameters) {
  TRY_VOID(send(parameters));
  if (!columns_.empty() && mysql_stmt_free_result(handle_.get()) != 0)
    return base::propagate(last_error(handle_.get()));
  const auto affected = mysql_stmt_affected_rows(handle_.get());
  // With rows in the answer the library says -1.
  return affected == std::numeric_limits<decltype(affected)>::max() ? 0 : affected;
}

Result<void> Statement::fetch(std::size_t index, Rows& rows) {
  const Column& column = columns_[index];
  Cell& cell = rows.cells_.emplace_back();
  if (column.is_null != 0) return {};
  const bool fits = !column.is_unsigned || column.number >= 0;
  if (column.kind == Column::Kind::number && fits) {
    cell.kind = Cell::Kind::number;
    cell.number = column.number;
    return {};
  }
  cell.kind = Cell::Kind::text;
  cell.begin = rows.texts_.size();
  if (column.kind == Column::Kind::text) return fetch_text(index, rows);
  char digits[32];
  const auto end = column.kind == Column::Kind::real
                       ? std::to_chars(digits, digits + sizeof digits, column.real)
                       : std::to_chars(digits, digits + sizeof digits, static_cast<std::uint64_t>(column.number));
  cell.length = static_cast<std::size_t>(end.ptr - digits);
  rows.texts_.append(digits, cell.length);
  return {};
}

// Straight to its place, the only time that its bytes are copied.
Result<void> Statement::fetch_text(std::size_t index, Rows& rows) {
  const std::size_t begin = rows.texts_.size();
  unsigned long length = columns_[index].length;
  rows.cells_.back().length = length;
  largest_text_ = std::max<std::size_t>(largest_text_, length);
  if (length == 0) return {};
  rows.texts_.resize(begin + length);
  MYSQL_BIND binding = empty_binding();
  binding.buffer_type = MYSQL_TYPE_STRING;
  binding.buffer = rows.texts_.data() + begin;
  binding.buffer_length = length;
  binding.length = &length;
  if (mysql_stmt_fetch_column(handle_.get(), &binding, static_cast<unsigned>(index), 0) != 0)
    return base::propagate(last_error(handle_.get()));
  return {};
}

}  // namespace postino::mysql
