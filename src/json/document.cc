#include "json/document.h"

#include <simdjson.h>

#include <bit>
#include <type_traits>

#include "base/check.h"
#include "json/fault.h"

namespace postino::json {

namespace {

namespace dom = simdjson::dom;

constexpr std::size_t deepest = 64;

// What the library hands out is a pointer and an index, as a Position is: one becomes the other at no cost, and
// other files do not see the library.
template <class Theirs>
Theirs as(Position position) {
  static_assert(sizeof(Theirs) == sizeof(Position) && alignof(Theirs) == alignof(Position));
  return std::bit_cast<Theirs>(position);
}

template <class Theirs>
Position position_of(const Theirs& theirs) {
  static_assert(sizeof(Theirs) == sizeof(Position) && alignof(Theirs) == alignof(Position));
  return std::bit_cast<Position>(theirs);
}

template <class T>
std::optional<T> value_at(Position position) {
  T value{};
  if (as<dom::element>(position).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

template <class Range, class Theirs>
Range range_at(Position position) {
  using Iterator = typename Range::Iterator;
  const std::optional<Theirs> theirs = value_at<Theirs>(position);
  if (!theirs) return Range(Iterator(Position()), Iterator(Position()), 0);
  return Range(Iterator(position_of(theirs->begin())), Iterator(position_of(theirs->end())), theirs->size());
}

template <class Theirs>
void advance(Position& position) {
  auto iterator = as<typename Theirs::iterator>(position);
  ++iterator;
  position = position_of(iterator);
}

std::string rule_broken_by(simdjson::error_code error, std::string_view text) {
  switch (error) {
    case simdjson::DEPTH_ERROR:
      return "must not be nested deeper than " + std::to_string(deepest);
    case simdjson::UTF8_ERROR:
      return "must be valid UTF-8";
    case simdjson::MEMALLOC:
      return "is too large";
    default:
      break;
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "must be JSON, and is empty";
  const auto fault = find_fault(text);
  if (!fault && error == simdjson::NUMBER_ERROR)
    return "must not have integers of more than 64 bits, or numbers beyond 1.8e308";
  if (!fault) return "must be JSON";
  return std::string("must be JSON; ") + (fault->at_end ? "it ends too early, " : "the error is ") + fault->place();
}

}  // namespace

Element::Type Element::type() const {
  switch (as<dom::element>(position_).type()) {
    case dom::element_type::OBJECT:
      return Type::object;
    case dom::element_type::ARRAY:
      return Type::array;
    case dom::element_type::STRING:
      return Type::string;
    case dom::element_type::INT64:
      return Type::integer;
    case dom::element_type::UINT64:
      return Type::unsigned_integer;
    case dom::element_type::DOUBLE:
      return Type::number;
    case dom::element_type::BOOL:
      return Type::boolean;
    case dom::element_type::NULL_VALUE:
      break;
  }
  return Type::null;
}

std::optional<std::string_view> Element::text() const { return value_at<std::string_view>(position_); }
std::optional<bool> Element::boolean() const { return value_at<bool>(position_); }
std::optional<std::int64_t> Element::integer() const { return value_at<std::int64_t>(position_); }
std::optional<std::uint64_t> Element::unsigned_integer() const { return value_at<std::uint64_t>(position_); }
std::optional<double> Element::number() const { return value_at<double>(position_); }

Elements Element::elements() const { return range_at<Elements, dom::array>(position_); }
Members Element::members() const { return range_at<Members, dom::object>(position_); }

std::optional<Element> Element::member(std::string_view name) const {
  const auto object = value_at<dom::object>(position_);
  dom::element found;
  if (!object || object->at_key(name).get(found) != simdjson::SUCCESS) return std::nullopt;
  return Element(position_of(found));
}

std::string Element::compact() const { return simdjson::minify(as<dom::element>(position_)); }

Elements::Iterator& Elements::Iterator::operator++() {
  advance<dom::array>(position_);
  return *this;
}

Members::Member Members::Iterator::operator*() const {
  const auto iterator = as<dom::object::iterator>(position_);
  return {iterator.key(), Element(position_of(iterator.value()))};
}

Members::Iterator& Members::Iterator::operator++() {
  advance<dom::object>(position_);
  return *this;
}

std::size_t count_values(std::string_view text) {
  std::size_t count = 1;
  bool escaped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    count += letter == ',' || letter == '[' || letter == '{' ? 1 : 0;
    if (letter != '"') continue;
    // To the end of the string: most of a large text is in strings.
    do {
      const std::size_t end = text.find('"', i + 1);
      if (end == std::string_view::npos) return count;
      std::size_t backslashes = 0;
      while (text[end - 1 - backslashes] == '\\') ++backslashes;
      escaped = backslashes % 2 == 1;
      i = end;
    } while (escaped);
  }
  return count;
}

// A text has no more values than bytes.
bool has_too_many_values(std::string_view text) {
  return text.size() > most_values && count_values(text) > most_values;
}

struct Document::Parser {
  dom::parser parser;
  std::optional<dom::element> root;
};

Document::Document() : parser_(std::make_unique<Parser>()) {}
Document::~Document() = default;
Document::Document(Document&& other) noexcept = default;
Document& Document::operator=(Document&& other) noexcept = default;

bool Document::parse(std::string_view text, FieldErrors& errors) {
  parser_->root.reset();
  dom::element root;
  // An empty text may have no bytes to point to.
  simdjson::error_code error = text.empty() ? simdjson::EMPTY : parser_->parser.allocate(text.size(), deepest);
  if (error == simdjson::SUCCESS) error = parser_->parser.parse(text.data(), text.size()).get(root);
  if (error != simdjson::SUCCESS) {
    errors.add("", rule_broken_by(error, text));
    return false;
  }
  parser_->root = root;
  return true;
}

Element Document::root() const {
  CHECK(parser_->root.has_value());
  return Element(position_of(*parser_->root));
}

}  // namespace postino::json
