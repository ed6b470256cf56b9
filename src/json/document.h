// JSON as it was received: a text is parsed once, and its values are looked at in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "json/field_errors.h"

namespace postino::json {

class Elements;
class Members;

// Where a value is in a document.
struct Position {
  const void* document = nullptr;
  std::size_t index = 0;

  friend bool operator==(const Position&, const Position&) = default;
};

// A value in a document. It is small, is passed by value, and must not outlive the document or its next parse().
class Element {
 public:
  explicit Element(Position position) : position_(position) {}

  enum class Type {
    null,
    boolean,
    integer,           // what fits into 64 bits with a sign
    unsigned_integer,  // larger ones that fit into 64 bits without one
    number,            // with a fraction or an exponent
    string,
    array,
    object,
  };
  Type type() const;
  bool is_null() const { return type() == Type::null; }
  bool is_string() const { return type() == Type::string; }
  bool is_array() const { return type() == Type::array; }
  bool is_object() const { return type() == Type::object; }

  // nullopt when it is of another type. The text is a view into the document.
  std::optional<std::string_view> text() const;
  std::optional<bool> boolean() const;
  std::optional<std::int64_t> integer() const;
  std::optional<std::uint64_t> unsigned_integer() const;  // any that is not negative
  std::optional<double> number() const;                   // any number

  // Of an array, or of an object; without any when it is of another type.
  Elements elements() const;
  Members members() const;
  // The first member of this name; nullopt when there is none, or when it is no object.
  std::optional<Element> member(std::string_view name) const;

  // As JSON text without spaces.
  std::string compact() const;

 private:
  Position position_;
};

// The elements of an array in their order.
class Elements {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Element;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Element;

    explicit Iterator(Position position) : position_(position) {}
    Element operator*() const { return Element(position_); }
    Iterator& operator++();
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Position position_;
  };

  Elements(Iterator begin, Iterator end, std::size_t size) : begin_(begin), end_(end), size_(size) {}
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }
  std::size_t size() const { return size_; }  // 16,777,215 when there are as many or more
  bool empty() const { return size_ == 0; }

 private:
  Iterator begin_;
  Iterator end_;
  std::size_t size_;
};

// The members of an object in the order of the text. A name may occur twice.
class Members {
 public:
  using Member = std::pair<std::string_view, Element>;

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Member;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Member;

    explicit Iterator(Position position) : position_(position) {}
    Member operator*() const;
    Iterator& operator++();
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Position position_;
  };

  Members(Iterator begin, Iterator end, std::size_t size) : begin_(begin), end_(end), size_(size) {}
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }
  std::size_t size() const { return size_; }  // 16,777,215 when there are as many or more
  bool empty() const { return size_ == 0; }

 private:
  Iterator begin_;
  Iterator end_;
  std::size_t size_;
};

// How many values a text has at most, if it is JSON: what parsing takes beyond the text's own size grows with them.
std::size_t count_values(std::string_view text);

// Texts of others that have more values than this are not parsed.
inline constexpr std::size_t most_values = 250'000;
bool has_too_many_values(std::string_view text);

class Document {
 public:
  Document();
  ~Document();
  Document(Document&& other) noexcept;
  Document& operator=(Document&& other) noexcept;

  // False, with a note, when the text is no JSON, is nested deeper than 64, or is not valid UTF-8. The text itself is
  // not needed afterwards. A document may parse one text after the other, and keeps its memory for the next.
  bool parse(std::string_view text, FieldErrors& errors);
  // Of the text that parse() was true of last.
  Element root() const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace postino::json
