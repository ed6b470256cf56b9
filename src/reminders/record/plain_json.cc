#include "reminders/record/plain_json.h"

#include "base/base64.h"
#include "json/writer.h"

namespace postino::reminders {

namespace {

void write_plain(json::Writer& writer, const item::AttributeValue& value);

template <class Members, class Write>
void write_list(json::Writer& writer, const Members& members, const Write& write) {
  writer.begin_array();
  for (const auto& member : members) write(member);
  writer.end_array();
}

// As JSON has it, numbers exact.
struct PlainValue {
  json::Writer& writer;

  void operator()(const std::string& text) const { writer.string(text); }
  void operator()(const item::Number& number) const { writer.raw(number.to_string()); }
  void operator()(const item::Binary& binary) const { writer.string(base::to_base64(binary.bytes)); }
  void operator()(bool value) const { writer.boolean(value); }
  void operator()(item::Null) const { writer.null(); }
  template <class Member>
  void operator()(const item::Set<Member>& set) const {
    write_list(writer, set.members(), *this);
  }
  void operator()(const item::List& list) const {
    write_list(writer, list, [this](const item::AttributeValue& value) { write_plain(writer, value); });
  }
  void operator()(const item::Map& map) const {
    writer.begin_object();
    for (const item::Attribute& each : map) {
      writer.any_key(each.name);
      write_plain(writer, each.value);
    }
    writer.end_object();
  }
};

void write_plain(json::Writer& writer, const item::AttributeValue& value) {
  std::visit(PlainValue{writer}, value.storage());
}

}  // namespace

std::string plain_json(const item::Item& item) {
  std::string text;
  json::Writer writer(text);
  PlainValue{writer}(item);
  return text;
}

}  // namespace postino::reminders
