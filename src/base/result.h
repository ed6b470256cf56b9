// Errors are values: Result<T> holds either a T or the reason there is none, and cannot be ignored.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace postino::base {

// What kind of failure it is, for code that has to react; the message is for people.
enum class ErrorCode {
  invalid,    // the caller's input breaks a rule; the message names it
  malformed,  // the input is not even of the expected shape (JSON types, base64)
  not_found,  // what was named does not exist
  conflict,   // the state of things forbids it now
  exhausted,  // a limit is reached; trying later may help
  io,         // the disk or the network failed
  corrupt,    // stored data does not have the form it must have
};

// Rules that some callers report in words of their own. They know a broken one by this, never by the message.
enum class Rule {
  other,
  expression,       // of the expression languages; the message begins with "Invalid <parameter>: "
  nesting,          // how deep values may be nested
  operand_type,     // which types an operator of an update takes
  number,           // the form and range of numbers, alone and in sets
  duplicates,       // sets have none
  listening,        // a server listens where a connection is opened to
  condition_count,  // a query has no more conditions than its key has attributes
  known_index,      // the table has the index that is read
  filled_index,     // and it was filled with the items that were there before it
};

struct Error {
  ErrorCode code = ErrorCode::invalid;
  std::string message;
  Rule rule = Rule::other;

  // The rule tells programs what the message tells people, so it is not compared.
  friend bool operator==(const Error& a, const Error& b) { return a.code == b.code && a.message == b.message; }
};

template <class T, class E = Error>
class [[nodiscard]] Result : public tl::expected<T, E> {
 public:
  using tl::expected<T, E>::expected;
};

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

// The most common failure: input that breaks a rule.
inline tl::unexpected<Error> invalid(std::string message, Rule rule = Rule::other) {
  return tl::unexpected<Error>(Error{ErrorCode::invalid, std::move(message), rule});
}

template <class E>
tl::unexpected<std::decay_t<E>> propagate(E&& error) {
  return tl::unexpected<std::decay_t<E>>(std::forward<E>(error));
}

}  // namespace postino::base

#define POSTINO_JOIN_(a, b) a##b
#define POSTINO_JOIN(a, b) POSTINO_JOIN_(a, b)

#define POSTINO_TRY_(name, declaration, ...)                             \
  auto name = (__VA_ARGS__);                                             \
  if (!name) return ::postino::base::propagate(std::move(name).error()); \
  declaration = *std::move(name)

// TRY(auto x, f()) declares x from f()'s value, or returns f()'s error from the enclosing function.
#define TRY(declaration, ...) POSTINO_TRY_(POSTINO_JOIN(try_result_, __LINE__), declaration, __VA_ARGS__)

// TRY_VOID(f()) returns f()'s error, if any, from the enclosing function.
#define TRY_VOID(...)                                                   \
  do {                                                                  \
    if (auto try_result = (__VA_ARGS__); !try_result)                   \
      return ::postino::base::propagate(std::move(try_result).error()); \
  } while (false)
