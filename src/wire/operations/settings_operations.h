// What can be set on tables beside their definition (time to live, point-in-time recovery, tags), and what the service
// tells of itself (limits, endpoints).
#pragma once

#include "wire/operations/table_operations.h"
#include "wire/protocol/operation.h"

namespace postino::wire {

struct TimeToLiveSpecificationInput {
  std::optional<std::string> attribute_name;
  std::optional<bool> enabled;
};
template <>
struct Shape<TimeToLiveSpecificationInput> {
  static constexpr std::string_view name = "TimeToLiveSpecification";
  using T = TimeToLiveSpecificationInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::attribute_name>("AttributeName"),
      member<T, &T::enabled>("Enabled"),
  });
};
struct UpdateTimeToLiveInput {
  std::optional<std::string> table_name;
  std::optional<TimeToLiveSpecificationInput> specification;
};
template <>
struct Shape<UpdateTimeToLiveInput> {
  static constexpr std::string_view name = "UpdateTimeToLiveInput";
  using T = UpdateTimeToLiveInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_name>("TableName"),
      member<T, &T::specification>("TimeToLiveSpecification"),
  });
};

struct RecoverySpecificationInput {
  std::optional<bool> enabled;
  std::optional<std::int32_t> recovery_period_days;
};
template <>
struct Shape<RecoverySpecificationInput> {
  static constexpr std::string_view name = "PointInTimeRecoverySpecification";
  using T = RecoverySpecificationInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::enabled>("PointInTimeRecoveryEnabled"),
      member<T, &T::recovery_period_days>("RecoveryPeriodInDays"),
  });
};
struct UpdateContinuousBackupsInput {
  std::optional<std::string> table_name;
  std::optional<RecoverySpecificationInput> specification;
};
template <>
struct Shape<UpdateContinuousBackupsInput> {
  static constexpr std::string_view name = "UpdateContinuousBackupsInput";
  using T = UpdateContinuousBackupsInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_name>("TableName"),
      member<T, &T::specification>("PointInTimeRecoverySpecification"),
  });
};

// All operations on tags.
struct TagsInput {
  std::optional<std::string> resource_arn;
  std::optional<std::vector<TagInput>> tags;
  std::optional<std::vector<std::string>> tag_keys;
};
template <>
struct Shape<TagsInput> {
  static constexpr std::string_view name = "TagResourceInput";
  using T = TagsInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::resource_arn>("ResourceArn"),
      member<T, &T::tags>("Tags"),
      member<T, &T::tag_keys>("TagKeys"),
  });
};

struct NoInput {};
template <>
struct Shape<NoInput> {
  static constexpr std::string_view name = "NoInput";
  static constexpr std::array<Member<NoInput>, 0> members{};
};

struct Done {};  // an answer without content

struct UpdateTimeToLive {
  static constexpr std::string_view name = "UpdateTimeToLive";
  using Input = UpdateTimeToLiveInput;
  struct Request {
    std::string table_name;
    store::TimeToLiveSpecification specification;
  };
  using Response = store::TimeToLiveSpecification;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request.table_name);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct DescribeTimeToLive {
  static constexpr std::string_view name = "DescribeTimeToLive";
  using Input = TableNameInput;
  using Request = std::string;
  using Response = store::TimeToLiveDescription;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct ContinuousBackups {
  using Response = store::PointInTimeRecoveryDescription;
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct UpdateContinuousBackups : ContinuousBackups {
  static constexpr std::string_view name = "UpdateContinuousBackups";
  using Input = UpdateContinuousBackupsInput;
  struct Request {
    std::string table_name;
    store::PointInTimeRecoverySpecification specification;
  };
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request.table_name);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

struct DescribeContinuousBackups : ContinuousBackups {
  static constexpr std::string_view name = "DescribeContinuousBackups";
  using Input = TableNameInput;
  using Request = std::string;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.table(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

struct ChangeTags {
  using Input = TagsInput;
  using Response = Done;
  static void encode(JsonWriter&, const Response&, const Reporting&) {}  // the body is empty
};

struct TagResource : ChangeTags {
  static constexpr std::string_view name = "TagResource";
  struct Request {
    std::string arn;
    std::vector<store::Tag> tags;
  };
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.resource(access::action_named(name), request.arn);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

struct UntagResource : ChangeTags {
  static constexpr std::string_view name = "UntagResource";
  struct Request {
    std::string arn;
    std::vector<std::string> keys;
  };
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.resource(access::action_named(name), request.arn);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
};

struct ListTagsOfResource {
  static constexpr std::string_view name = "ListTagsOfResource";
  using Input = TagsInput;
  using Request = std::string;
  using Response = store::ListTagsResponse;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.resource(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct DescribeLimits {
  static constexpr std::string_view name = "DescribeLimits";
  using Input = NoInput;
  using Request = NoInput;
  using Response = Done;
  static store::Answer<Request> decode(Input) { return Request(); }
  static store::Answer<void> authorize(const AccessCheck& check, const Request&) {
    return check.nothing(access::action_named(name));
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct DescribeEndpoints {
  static constexpr std::string_view name = "DescribeEndpoints";
  using Input = NoInput;
  using Request = NoInput;
  using Response = std::string;  // the address
  static store::Answer<Request> decode(Input) { return Request(); }
  static store::Answer<void> authorize(const AccessCheck& check, const Request&) {
    return check.nothing(access::action_named(name));
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

}  // namespace postino::wire
