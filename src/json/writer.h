// Writes JSON text, member by member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/string.h"

namespace postino::json {

// The caller opens and closes what it writes; commas come by themselves. `Self` is the class that derives from it and
// may add values of its own kinds.
template <class Self>
class BasicWriter {
 public:
  explicit BasicWriter(std::string& out) : out_(out) {}

  Self& begin_object() { return open('{'); }
  Self& end_object() { return close('}'); }
  Self& begin_array() { return open('['); }
  Self& end_array() { return close(']'); }

  // The name of the next member: one of our own or of a protocol, which need no escaping.
  Self& key(std::string_view name) {
    separate();
    out_.append(1, '"').append(name).append("\":");
    after_value_ = false;
    return self();
  }
  // A name that comes from a user.
  Self& any_key(std::string_view name) {
    separate();
    append_string(out_, name);
    out_ += ':';
    after_value_ = false;
    return self();
  }

  Self& string(std::string_view text) {
    separate();
    append_string(out_, text);
    return written();
  }
  Self& integer(std::int64_t number) {
    separate();
    out_ += std::to_string(number);
    return written();
  }
  Self& boolean(bool value) {
    separate();
    out_ += value ? "true" : "false";
    return written();
  }
  Self& null() { return raw("null"); }
  // Text that is JSON already.
  Self& raw(std::string_view text) {
    separate();
    out_ += text;
    return written();
  }

 protected:
  void separate() {
    if (after_value_) out_ += ',';
  }
  Self& written() {
    after_value_ = true;
    return self();
  }

  std::string& out_;

 private:
  Self& self() { return static_cast<Self&>(*this); }
  Self& open(char bracket) {
    separate();
    out_ += bracket;
    after_value_ = false;
    return self();
  }
  Self& close(char bracket) {
    out_ += bracket;
    return written();
  }

  bool after_value_ = false;
};

class Writer : public BasicWriter<Writer> {
 public:
  using BasicWriter::BasicWriter;
};

}  // namespace postino::json
