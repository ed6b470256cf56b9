// Contributor insights: UpdateContributorInsights, DescribeContributorInsights, ListContributorInsights.
//
// The keys that are used most are counted for every table; see docs/capacity.md. These operations keep and show whether
// a caller wants to know, as tools that set up tables expect.
#pragma once

#include "wire/operations/table_operations.h"
#include "wire/protocol/operation.h"

namespace postino::wire {

struct InsightsInput {
  std::optional<std::string> table_name;
  std::optional<std::string> index_name;
  std::optional<std::string> action;
  std::optional<std::string> mode;
  std::optional<std::string> next_token;
  std::optional<std::int32_t> max_results;
};
template <>
struct Shape<InsightsInput> {
  static constexpr std::string_view name = "UpdateContributorInsightsInput";
  using T = InsightsInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_name>("TableName"),
      member<T, &T::index_name>("IndexName"),
      member<T, &T::action>("ContributorInsightsAction"),
      member<T, &T::mode>("ContributorInsightsMode"),
      member<T, &T::next_token>("NextToken"),
      member<T, &T::max_results>("MaxResults"),
  });
};

struct UpdateContributorInsights {
  static constexpr std::string_view name = "UpdateContributorInsights";
  using Input = InsightsInput;
  struct Request {
    store::InsightsTarget target;
    bool enabled = false;
    std::optional<store::InsightsMode> mode;
  };
  using Response = store::InsightsDescription;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct DescribeContributorInsights {
  static constexpr std::string_view name = "DescribeContributorInsights";
  using Input = InsightsInput;
  using Request = store::InsightsTarget;
  using Response = store::InsightsDescription;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct ListContributorInsights {
  static constexpr std::string_view name = "ListContributorInsights";
  using Input = InsightsInput;
  struct Request {
    std::optional<std::string> table_name;
    std::size_t from = 0;
    std::size_t limit = 0;
  };
  struct Response {
    std::vector<store::InsightsDescription> summaries;
    std::optional<std::size_t> next;
  };
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

}  // namespace postino::wire
