#include "metrics/follow/asked_again.h"

namespace postino::metrics {

namespace {

item::Key key_of_wishes(const std::string& follower) { return {{"metric_name", "asked-again#" + follower}}; }

}  // namespace

store::UpdateItemRequest AskedAgain::update(const std::string& text, std::vector<std::string> ids) const {
  store::UpdateItemRequest request;
  request.table_name = table_;
  request.key = key_of_wishes(follower_);
  request.update.emplace(text + " ids :ids");
  request.placeholders.values = item::Map{};
  request.placeholders.values->set(":ids", item::StringSet(std::move(ids)));
  return request;
}

base::Result<void> AskedAgain::ask(const std::string& id) {
  store::UpdateItemRequest request = update("ADD", {id});
  request.condition = "attribute_not_exists(ids) OR size(ids) < :most";
  request.placeholders.values->set(":most", most);
  const auto answer = retry_([&] { return store_.update_item(request); });
  if (answer) return {};
  if (answer.error().type == store::ErrorType::conditional_check_failed)
    return base::fail(base::ErrorCode::exhausted, "too many changes wait to be delivered again");
  return base::propagate(store::as_error(answer.error()));
}

Outcome<std::vector<SetAside>> AskedAgain::take() {
  store::GetItemRequest get;
  get.table_name = table_;
  get.key = key_of_wishes(follower_);
  get.consistent_read = true;
  const auto answer = retry_([&] { return store_.get_item(get); });
  if (!answer) return temporary(answer.error());
  const item::AttributeValue* const value = answer->item ? answer->item->find("ids") : nullptr;
  const auto* const ids = value != nullptr ? value->get_if<item::StringSet>() : nullptr;
  std::vector<SetAside> wanted;
  if (ids == nullptr) return wanted;
  for (const std::string& id : ids->members()) {
    auto found = set_aside_.find(id);
    if (!found) return trouble(Trouble::temporary, found.error().message);
    if (*found) wanted.push_back(**std::move(found));
  }
  const store::UpdateItemRequest removal = update("DELETE", {ids->members().begin(), ids->members().end()});
  const auto removed = retry_([&] { return store_.update_item(removal); });
  if (!removed) return temporary(removed.error());
  return wanted;
}

}  // namespace postino::metrics
