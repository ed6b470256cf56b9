#include "base/base64.h"
#include "item/json_codec.h"
#include "json/string.h"

namespace postino::item {
namespace {

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void value(const AttributeValue& value) {
    out_.append("{\"").append(type_name(value.type())).append("\":");
    std::visit(*this, value.storage());
    out_.push_back('}');
  }

  void operator()(const std::string& text) { json::append_string(out_, text); }
  void operator()(const Number& number) {
    out_.push_back('"');
    number.append_to(out_);
    out_.push_back('"');
  }
  void operator()(const Binary& binary) { out_.append("\"").append(base::to_base64(binary.bytes)).append("\""); }
  void operator()(bool value) { out_.append(value ? "true" : "false"); }
  void operator()(Null) { out_.append("true"); }

  template <class Member>
  void operator()(const Set<Member>& set) {
    sequence(
        '[', set.members(), [this](const Member& member) { (*this)(member); }, ']');
  }
  void operator()(const List& list) {
    sequence(
        '[', list, [this](const AttributeValue& element) { value(element); }, ']');
  }
  void operator()(const Map& map) {
    const auto attribute = [this](const Attribute& each) {
      json::append_string(out_, each.name);
      out_.push_back(':');
      value(each.value);
    };
    sequence('{', map, attribute, '}');
  }

 private:
  template <class Range, class Write>
  void sequence(char open, const Range& range, const Write& write, char close) {
    out_.push_back(open);
    bool first = true;
    for (const auto& element : range) {
      if (!first) out_.push_back(',');
      first = false;
      write(element);
    }
    out_.push_back(close);
  }

  std::string& out_;
};

}  // namespace

void append_json(std::string& out, const AttributeValue& value) { Writer(out).value(value); }

void append_json(std::string& out, const Map& item) { Writer{out}(item); }

std::string to_json(const AttributeValue& value) {
  std::string out;
  append_json(out, value);
  return out;
}

std::string to_json(const Map& item) {
  std::string out;
  append_json(out, item);
  return out;
}

}  // namespace postino::item
