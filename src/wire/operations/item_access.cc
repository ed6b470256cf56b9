// What the operations on items do, as policies know it.
#include "wire/operations/item_operations.h"
#include "wire/operations/page_operations.h"

namespace postino::wire {

namespace {

template <class Type, class Request>
ItemAccess access_of(const Request& request) {
  constexpr access::Action action{access::action_number(Type::name)};
  ItemAccess access{.action = action, .table = request.table_name};
  access.placeholders = &request.placeholders;
  access.consumed_capacity = reporting_of(request).consumed_capacity;
  return access;
}

template <class Type, class Request>
ItemAccess write_access(const Request& request) {
  ItemAccess access = access_of<Type>(request);
  access.condition = &request.condition;
  access.return_values = returned(request.return_values, request.return_item_on_failure);
  return access;
}

template <class Type, class Request>
ItemAccess page_access(const Request& request) {
  ItemAccess access = access_of<Type>(request);
  access.index = request.index_name ? &*request.index_name : nullptr;
  access.filter = &request.filter;
  access.projection = &request.projection;
  access.select = selected(request.projection.has_value(), access.index != nullptr, request.select);
  return access;
}

}  // namespace

store::Answer<void> GetItem::authorize(const AccessCheck& check, const Request& request) {
  ItemAccess access = access_of<GetItem>(request);
  access.keys = {&request.key};
  access.projection = &request.projection;
  access.select = selected(request.projection.has_value(), false);
  return check.items(access);
}

store::Answer<void> PutItem::authorize(const AccessCheck& check, const Request& request) {
  ItemAccess access = write_access<PutItem>(request);
  access.items = {&request.item};
  return check.items(access);
}

store::Answer<void> UpdateItem::authorize(const AccessCheck& check, const Request& request) {
  ItemAccess access = write_access<UpdateItem>(request);
  access.keys = {&request.key};
  access.update = &request.update;
  return check.items(access);
}

store::Answer<void> DeleteItem::authorize(const AccessCheck& check, const Request& request) {
  ItemAccess access = write_access<DeleteItem>(request);
  access.keys = {&request.key};
  return check.items(access);
}

store::Answer<void> Query::authorize(const AccessCheck& check, const Request& request) {
  ItemAccess access = page_access<Query>(request);
  access.key_condition = &request.key_condition;
  return check.items(access);
}

store::Answer<void> Scan::authorize(const AccessCheck& check, const Request& request) {
  return check.items(page_access<Scan>(request));
}

}  // namespace postino::wire
