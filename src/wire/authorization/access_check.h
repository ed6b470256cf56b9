// Whether the caller of an operation may do what its request says: the request becomes what policies are asked about.
//
// Each operation of the API says by its authorize() what it does; one that does not say so does not compile. An access
// key without policies has all rights, and none of this is done for it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/key_policies.h"
#include "http/message.h"
#include "store/store.h"
#include "wire/authorization/resource_policies.h"

namespace postino::wire {

// Of the server, for the names of resources.
struct ResourceNames {
  std::string region;
  std::string account;

  std::string table(std::string_view name) const;
  std::string table_or_index(std::string_view table_name, const std::string* index) const;
};

// Who calls, and how. The request must last until it is answered.
struct Caller {
  std::shared_ptr<const access::KeyPolicies> policies;
  bool is_owner = false;  // with all rights, but for what the policy of a resource denies
  const http::Request* request = nullptr;
  std::string address;  // where the caller is, also behind a proxy
  base::TimePoint now;
};

// What one action does to a table or an index, and how. Everything is referred to, and must outlive the check.
struct ItemAccess {
  access::Action action;
  const std::string& table;
  const std::string* index = nullptr;
  std::string_view enclosing = {};  // the operation, if the action is a part of another one
  // The keys of items, and items that are written whole.
  std::vector<const item::Map*> keys = {};
  std::vector<const item::Map*> items = {};
  // Or values of partition keys by themselves, and names of attributes.
  std::vector<const item::AttributeValue*> partitions = {};
  std::vector<std::string_view> attributes = {};

  const expr::Placeholders* placeholders = nullptr;  // of these:
  const std::optional<store::ConditionExpression>* key_condition = nullptr;
  const std::optional<store::ConditionExpression>* condition = nullptr;
  const std::optional<store::ConditionExpression>* filter = nullptr;
  const std::optional<store::UpdateExpression>* update = nullptr;
  const std::optional<store::ProjectionExpression>* projection = nullptr;

  std::optional<store::Select> select = {};
  std::optional<store::ReturnValues> return_values = {};
  std::optional<store::ReturnConsumedCapacity> consumed_capacity = {};
  std::optional<bool> full_scan = {};
};

// What a read is asked for, as policies know it: with a projection, attributes that it names.
store::Select selected(bool has_projection, bool of_index, std::optional<store::Select> select = {});
// What a write returns. The item that a failed condition shows is one that was there.
store::ReturnValues returned(store::ReturnValues values, bool item_on_failure);

// Cheap to copy. Safe to use from any thread, as long as the caller's request lasts.
class AccessCheck {
 public:
  // Policies of resources are joined in where the store keeps some.
  AccessCheck(Caller caller, ResourceNames names, store::Store& store, ResourcePolicies& resource_policies);
  ~AccessCheck();
  AccessCheck(const AccessCheck&);

  // Each fails with AccessDeniedException in AWS's words.
  //
  // Something is done to a table as a whole ("*" stands for all of them), to what an ARN names, or to no resource.
  store::Answer<void> table(access::Action action, std::string_view table_name) const;
  store::Answer<void> resource(access::Action action, const std::string& arn) const;
  store::Answer<void> nothing(access::Action action) const;
  store::Answer<void> table_or_index(access::Action action, std::string_view table_name,
                                     const std::string* index) const;
  // Could the caller change the policy of the resource again if this were it?
  store::Answer<void> keeps_own_access(const access::Policy& policy, const std::string& arn) const;

  // Items are read or written. Fails as the store would if the table, the index or an expression makes no sense, and
  // what the policies ask for cannot be known because of that.
  store::Answer<void> items(const ItemAccess& access) const;
  // What an action is about is not there. Callers who could be allowed the action on it may be told so.
  store::Answer<void> missing(access::Action action, std::string_view table_name, const std::string* index) const;

  store::Store& store() const { return store_; }

 private:
  access::Context begin_context() const;
  bool ask_for(std::initializer_list<access::ContextKey> keys) const;
  store::Answer<void> decide(const access::AccessRequest& request) const;
  store::Answer<void> add_partition_keys(const ItemAccess& access, access::Context& context) const;

  std::shared_ptr<const Caller> caller_;
  ResourceNames names_;
  store::Store& store_;
  ResourcePolicies& resource_policies_;
  store::ResourceSettings* kept_policies_ = nullptr;  // nullptr: no resource has a policy
};

}  // namespace postino::wire
