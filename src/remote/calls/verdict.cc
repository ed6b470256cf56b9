#include "remote/calls/verdict.h"

#include <algorithm>
#include <array>

namespace postino::remote {

namespace {

using store::ErrorType;
using Next = Verdict::Next;

constexpr int too_large = 413;
constexpr int too_many_requests = 429;
constexpr int first_of_servers = 500;

template <std::size_t count>
bool is_one_of(const std::array<std::string_view, count>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_about_time(const Refusal& refusal) {
  constexpr std::array<std::string_view, 3> names = {"RequestTimeTooSkewed", "RequestExpired",
                                                     "RequestExpiredException"};
  if (is_one_of(names, refusal.type)) return true;
  const std::string& message = refusal.error.message;
  return refusal.type == "InvalidSignatureException" && (message.find("Signature expired") != std::string::npos ||
                                                         message.find("not yet current") != std::string::npos);
}

bool is_about_keys(const Refusal& refusal) {
  constexpr std::array<std::string_view, 5> names = {"UnrecognizedClientException", "InvalidSignatureException",
                                                     "ExpiredTokenException", "ExpiredToken", "InvalidClientTokenId"};
  return is_one_of(names, refusal.type);
}

bool is_throttling(ErrorType type, int status) {
  return type == ErrorType::provisioned_throughput_exceeded || type == ErrorType::throttling ||
         type == ErrorType::request_limit_exceeded || status == too_many_requests;
}

// Limits on what happens at the same time pass by; others do not. Of streams, too many readers.
bool is_passing_limit(Api api, const store::Error& error) {
  if (error.type != ErrorType::limit_exceeded) return false;
  if (api == Api::streams) return true;
  constexpr std::array<std::string_view, 3> words = {"simultaneous", "concurrent", "being updated"};
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return error.message.find(word) != std::string::npos; });
}

bool has_throttled_action(const store::Error& error) {
  return error.details != nullptr && std::ranges::any_of(error.details->reasons, [](const auto& reason) {
           return reason.code == "ThrottlingError" || reason.code == "ProvisionedThroughputExceeded";
         });
}

store::Error explained(ErrorType type, std::string text) {
  store::Error error(type, std::move(text));
  error.is_explained = true;
  return error;
}

Trouble trouble_of(const store::Error& error, bool is_throttled) {
  if (is_throttled) return Trouble::throttled;
  if (error.type == ErrorType::access_denied) return Trouble::denied;
  return error.type == ErrorType::resource_not_found ? Trouble::missing : Trouble::none;
}

}  // namespace

store::Error not_known_whether_done(const std::string& why) {
  return explained(ErrorType::internal_server_error, "it is not known whether it was done: " + why);
}

Verdict judge_refusal(Api api, int status, Refusal refusal) {
  Verdict verdict{.next = Next::give_up};
  if (is_about_time(refusal) || is_about_keys(refusal)) {
    verdict.next = is_about_time(refusal) ? Next::correct_time : Next::renew_keys;
    verdict.trouble = Trouble::unusable;
    // Not a missing right: the service does not know who asks.
    const char* const what = is_about_time(refusal) ? "the time of this machine is refused: "
                                                    : "the access key, or its secret, is refused: ";
    refusal.error = explained(ErrorType::access_denied, what + refusal.error.message);
  } else if (is_throttling(refusal.error.type, status)) {
    verdict.next = Next::try_later;
    verdict.trouble = Trouble::throttled;
    verdict.is_throttled = true;
  } else if (refusal.error.type == ErrorType::service_unavailable) {
    verdict.next = Next::try_later;  // nothing was done
    verdict.trouble = Trouble::unusable;
  } else if (refusal.error.type == ErrorType::internal_server_error || status >= first_of_servers) {
    verdict.next = Next::try_later;
    verdict.may_be_done = true;
    verdict.trouble = Trouble::unusable;
    refusal.error = not_known_whether_done(refusal.type + ": " + refusal.error.message);
  } else if (refusal.error.type == ErrorType::transaction_in_progress || is_passing_limit(api, refusal.error)) {
    verdict.next = Next::try_later;
  } else {
    verdict.is_throttled = has_throttled_action(refusal.error);
    verdict.trouble = trouble_of(refusal.error, verdict.is_throttled);
  }
  verdict.error = std::move(refusal.error);
  return verdict;
}

Verdict judge_foreign_answer(int status, std::string_view content_type, Acquaintance acquaintance) {
  if (status == too_large)
    return {.next = Next::give_up, .error = {ErrorType::validation, "the request is larger than the service takes"}};
  std::string what = "status " + std::to_string(status);
  if (!content_type.empty()) what.append(", ").append(content_type);
  Verdict verdict = spoilt_answer("the answer is not DynamoDB's: " + what);
  if (acquaintance == Acquaintance::none)
    verdict.error = explained(ErrorType::internal_server_error,
                              "what is there does not speak DynamoDB: it has answered with " + what);
  return verdict;
}

Verdict spoilt_answer(std::string_view what) {
  return {.next = Next::try_later,
          .error = not_known_whether_done(std::string(what)),
          .may_be_done = true,
          .trouble = Trouble::unusable};
}

Verdict no_answer(const std::string& why, bool was_sent, bool is_timeout, Acquaintance acquaintance) {
  Verdict verdict{
      .next = Next::try_later, .may_be_done = was_sent, .is_timeout = is_timeout, .trouble = Trouble::unusable};
  if (!was_sent)
    verdict.error = explained(ErrorType::service_unavailable, "DynamoDB could not be called: " + why);
  else if (acquaintance == Acquaintance::none && !is_timeout)
    verdict.error =
        explained(ErrorType::internal_server_error, "what is there does not seem to speak DynamoDB: " + why);
  else
    verdict.error = not_known_whether_done("DynamoDB did not answer: " + why);
  return verdict;
}

Verdict without_keys(const base::Error& why) {
  const bool is_hopeless = why.code == base::ErrorCode::not_found || why.code == base::ErrorCode::invalid;
  const std::string text =
      why.message.starts_with("no access keys") ? why.message : "there are no access keys: " + why.message;
  return {.next = is_hopeless ? Next::give_up : Next::try_later,
          .error = explained(is_hopeless ? ErrorType::access_denied : ErrorType::service_unavailable, text),
          .trouble = Trouble::unusable};
}

}  // namespace postino::remote
