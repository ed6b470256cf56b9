#include "value_generator.h"

namespace postino::model {

namespace {

using item::AttributeValue;
using Section = UpdateAction::Section;

UpdateValue literal(AttributeValue value) { return {UpdateValue::Kind::literal, std::move(value), {}, {}}; }
UpdateValue reference(Path path) { return {UpdateValue::Kind::path, {}, std::move(path), {}}; }
UpdateValue if_not_exists(Path path, UpdateValue otherwise) {
  return {UpdateValue::Kind::if_not_exists, {}, std::move(path), {std::move(otherwise)}};
}
UpdateValue operation(UpdateValue::Kind kind, UpdateValue left, UpdateValue right) {
  return {kind, {}, {}, {std::move(left), std::move(right)}};
}

}  // namespace

UpdateValue ValueGenerator::update_value(const ModelTable& table, const Path& target, base::TimePoint now) {
  using namespace std::string_literals;
  const std::string& name = std::get<std::string>(target.front());
  const auto fresh = [&] { return target.size() == 1 ? value_for(table, name, now) : small_value(1); };
  const Path number = {"n"s};
  const Path list = {"docs"s};
  switch (choice_.between(0, 8)) {
    case 0:
      return reference(path(table, true));
    case 1:
      return if_not_exists(target, literal(fresh()));
    case 2:
      return if_not_exists(path(table, false), if_not_exists(path(table, false), literal(fresh())));
    case 3:
      return operation(choice_.one_in(2) ? UpdateValue::Kind::plus : UpdateValue::Kind::minus,
                       if_not_exists(number, literal(AttributeValue(0))),
                       literal(AttributeValue(choice_.between(1, 3))));
    case 4:
      return operation(choice_.one_in(2) ? UpdateValue::Kind::plus : UpdateValue::Kind::minus,
                       reference(path(table, false)), literal(choice_.one_in(20) ? small_value(0) : AttributeValue(1)));
    case 5:
      return operation(UpdateValue::Kind::list_append, if_not_exists(list, literal(AttributeValue(item::List()))),
                       literal(AttributeValue(item::List{small_value(0)})));
    default:
      return literal(fresh());
  }
}

UpdateAction ValueGenerator::update_action(const ModelTable& table, base::TimePoint now) {
  UpdateAction action;
  action.section = static_cast<Section>(choice_.between(0, 5) % 4);
  action.target = path(table, false);
  if (choice_.one_in(4)) {
    std::vector<std::string> names;
    for (const auto& [name, type] : table.types)
      if ((name != table.hash && name != table.range) || choice_.one_in(30)) names.push_back(name);
    if (!names.empty()) action.target = {choice_.of(names)};
  }
  if (action.section == Section::set) action.value = update_value(table, action.target, now);
  if (action.section == Section::add) {
    if (choice_.one_in(2)) action.target = {std::string("n")};
    action.value = literal(choice_.one_in(3) ? small_set() : AttributeValue(choice_.between(-2, 2)));
  }
  if (action.section == Section::erase) {
    if (choice_.one_in(2)) action.target = {std::string("tags")};
    action.value = literal(choice_.one_in(40) ? small_value(0) : small_set());
  }
  return action;
}

Update ValueGenerator::update(const ModelTable& table, base::TimePoint now) {
  Update update;
  const int count = choice_.between(1, 4);
  for (int attempt = 0; attempt < 20 && static_cast<int>(update.actions.size()) < count; ++attempt) {
    update.actions.push_back(update_action(table, now));
    if (update.is_invalid() && !choice_.one_in(60)) update.actions.pop_back();
  }
  if (update.actions.empty())
    update.actions.push_back({Section::set, {std::string("n")}, literal(AttributeValue(choice_.between(0, 9)))});
  return update;
}

}  // namespace postino::model
