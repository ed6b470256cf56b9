#include "api/service.h"

#include <algorithm>
#include <exception>

#include "access/caller_scope.h"
#include "api/keyed_requests.h"
#include "api/permitted_stream.h"
#include "api/protocol/limits.h"
#include "api/protocol/quota_headers.h"
#include "api/route_list.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/metrics_text.h"
#include "base/text.h"
#include "objects/request_time.h"
#include "store/caller_patience.h"

namespace postino::api {

namespace {

using std::chrono::steady_clock;

constexpr std::size_t most_request_id_size = 64;

// Smaller bodies are too cheap to read for a limit: threads are few.
constexpr std::size_t least_counted_body = 128 << 10;
// What reading a body takes, the body included: the parser's copy, its strings, the request that is made of them, and
// the text that is stored.
constexpr std::size_t reading_factor = 5;

bool is_request_id(std::string_view text) {
  const auto allowed = [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
           each == '_' || each == '.' || each == '-';
  };
  return !text.empty() && text.size() <= most_request_id_size && std::ranges::all_of(text, allowed);
}

// A misspelt parameter must not pass in silence, nor a filter by nothing: a program that has lost the value would be
// given everything.
base::Result<void, Problem> check_query(const Query& query, const Route& route) {
  json::FieldErrors errors;
  for (const auto& [name, value] : query.parameters()) {
    const auto is_meant = [&name = name](const Parameter& parameter) {
      return parameter.place == ParameterPlace::query && parameter.name == name;
    };
    const auto known = std::ranges::find_if(route.operation.parameters, is_meant);
    if (known == route.operation.parameters.end())
      errors.add(name, "is an unknown parameter");
    else if (value.empty() && !known->may_be_empty)
      errors.add(name, "must not be empty");
  }
  if (!errors.empty()) return refuse_fields(problems::invalid_request, errors);
  return {};
}

base::Result<void, Problem> check_body(const http::Request& request, const Body& body) {
  if (body.contents.empty()) return {};
  if (request.body.empty()) {
    if (body.required) return refuse_field("", "is required");
    return {};
  }
  const std::string_view encoding = request.header("content-encoding");
  if (!encoding.empty() && !base::equal_ignoring_case(encoding, "identity"))
    return refuse(problems::unsupported_media_type, "The body must not be compressed.");
  const std::string_view type = request.media_type();
  std::string types;
  for (const Content& content : body.contents) {
    if (base::equal_ignoring_case(type, content.type)) return {};
    types.append(types.empty() ? "" : " or ").append(content.type);
  }
  return refuse(problems::unsupported_media_type, "The Content-Type must be " + types + ".");
}

// The parser needs much more memory for a value than for a byte.
base::Result<void, Problem> check_value_count(const http::Request& request) {
  if (!base::equal_ignoring_case(request.media_type(), json_content_type)) return {};
  if (!json::has_too_many_values(request.body)) return {};
  return refuse_field("", "must not have more than " + std::to_string(Limits::values_in_a_body) + " values");
}

Reply reply_of(Problem problem, std::string_view request_id) {
  Reply reply{.status = problem.type.status, .content_type = std::string(problem_content_type)};
  reply.body = to_json(problem, request_id);
  reply.headers = std::move(problem.headers);
  return reply;
}

http::Response response_of(Reply reply, std::string request_id) {
  http::Response response;
  response.status = reply.status;
  response.content_type = std::move(reply.content_type);
  response.body = std::move(reply.body);
  response.headers = std::move(reply.headers);
  response.memory = std::move(reply.memory);
  response.stream = std::move(reply.stream);
  response.headers.emplace_back("X-Request-Id", std::move(request_id));
  response.headers.emplace_back("Cache-Control", "no-store");
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return response;
}

Outcome too_many_answers() {
  return refuse(problems::overloaded, "Too many answers have not been taken. Try again in a moment.");
}

// A library may throw, also for want of memory: the client gets an answer all the same.
Outcome thrown(const std::exception& error) {
  return base::propagate(problem_of({base::ErrorCode::corrupt, error.what()}, problems::internal_error));
}

template <class Handle>
Outcome run(const Handle& handle) {
  try {
    return handle();
  } catch (const std::exception& error) {
    return thrown(error);
  }
}

messages::BrokerShares::Limits shares_of(int threads, int max_waiting) {
  return {static_cast<std::size_t>(threads), static_cast<std::size_t>(max_waiting)};
}

// Of those that are not there any more: if they come back, their sessions do not.
void end_sessions_of_others(access::Sessions& sessions, const std::vector<access::Session>& before,
                            const std::vector<access::Session>& now) {
  for (const access::Session& holder : before) {
    if (std::ranges::any_of(now, [&](const auto& other) { return access::have_same_holder(holder, other); })) continue;
    if (const auto ended = sessions.revoke_credential(holder); !ended)
      base::log_warning("access", "sessions of a caller who is not there any more are kept until they are used",
                        {{"name", holder.user_id}, {"cause", ended.error().message}});
  }
}

// What the path names. An address is a person's, and entries stay for long: who knows it can tell it by its digest.
std::string audit_subject_of(const std::vector<std::pair<std::string_view, std::string>>& path_parameters) {
  constexpr std::size_t digest_length = 16;
  std::string subject;
  for (const auto& [name, value] : path_parameters) {
    if (!subject.empty()) subject += "/";
    subject += name == "address" ? "sha256:" + base::to_hex(base::sha256(value)).substr(0, digest_length) : value;
  }
  return subject;
}

std::string_view audit_kind_of(const Caller& caller) {
  if (caller.role == Role::anyone) return access::AuditEvent::unknown;
  if (caller.name.empty()) return access::AuditEvent::local;
  return caller.is_user ? access::AuditEvent::user : access::AuditEvent::api_key;
}

std::size_t index_of(const Route& route) { return static_cast<std::size_t>(&route - all_routes().data()); }

}  // namespace

// A request on its way. What it points to is valid until it has been answered.
struct Api::Work {
  const http::Request& request;
  http::Responder respond;
  steady_clock::time_point begin;
  std::string request_id;
  const Route* route = nullptr;          // nullptr: none was found
  std::shared_ptr<const Access> access;  // has the caller
  const Caller* caller = nullptr;
  std::vector<std::pair<std::string_view, std::string>> path_parameters;
  Query query;
  base::MemoryBudget::Share reading;
  access::AuditEvent event = {};  // that the audit has of it
  bool is_told = false;           // has it?
};

Api::Api(outbox::Outbox& outbox, outbox::SandboxMailbox* mailbox, messages::MessageService& messages,
         idempotency::Guard& request_keys, const base::Clock& clock, base::Random& random, ApiOptions options)
    : random_(random),
      log_requests_(options.log_requests),
      reading_(std::move(options.reading)),
      answers_(std::move(options.answers)),
      origin_policy_(options.origin_policy),
      sessions_(options.sessions),
      audit_(options.audit),
      clock_(clock),
      callers_{std::move(options.keys), std::move(options.users), {}, {}},
      access_(access_of(callers_)),
      sign_ins_(sessions_ == nullptr
                    ? nullptr
                    : std::make_unique<SignIns>(access_, *sessions_, clock, std::move(options.sign_ins), audit_)),
      router_(all_routes()),
      planner_(options.planner ? std::move(options.planner)
                               : std::make_shared<const capacity::Planner>(capacity::built_in_prices())),
      services_{outbox,
                mailbox,
                messages,
                request_keys,
                options.store_keys != nullptr ? *options.store_keys : request_keys,
                clock,
                options.require_idempotency_key,
                options.reminders,
                *planner_,
                options.tickets,
                options.metrics,
                sign_ins_.get(),
                options.audit_reader,
                options.backups,
                options.stored_keys},
      statistics_(all_routes()),
      promised_(all_routes().size()),
      waiting_shares_(shares_of(options.waiting_threads, options.max_waiting)),
      receiving_shares_(shares_of(options.receiving_threads, options.max_waiting)),
      pool_(options.threads, static_cast<std::size_t>(options.max_waiting)),
      waiting_pool_(options.waiting_threads, static_cast<std::size_t>(options.max_waiting)),
      receiving_pool_(options.receiving_threads, static_cast<std::size_t>(options.max_waiting)) {
  for (const Route& route : all_routes())
    for (const AnswerDescription& answer : route.operation.answers)
      promised_[index_of(route)].set(static_cast<std::size_t>(answer.status));
}

Api::~Api() { stop(); }

void Api::set_keys(std::vector<ApiKey> keys, std::vector<User> users) {
  const std::lock_guard lock(callers_mutex_);
  callers_.keys = std::move(keys);
  callers_.users = std::move(users);
  set_callers();
}

void Api::set_stored_keys(const access::KnownKeys& known) {
  const std::lock_guard lock(callers_mutex_);
  callers_.stored = {api_keys_of(known), known.closes_api, &clock_};
  callers_.tenant_meters = known.tenant_meters;
  set_callers();
}

// A name means one caller: a key in the store does not count beside a user of its name.
std::shared_ptr<const Access> Api::access_of(const Callers& callers) const {
  StoredApiKeys stored = callers.stored;
  std::erase_if(stored.keys, [&](const ApiKey& key) {
    const bool is_users =
        std::ranges::any_of(callers.users, [&](const User& user) { return user.caller.name == key.caller.name; });
    if (is_users)
      base::log_warning("keys", "a key does not count, because a user has its name",
                        {{"id", key.id}, {"name", key.caller.name}});
    return is_users;
  });
  std::vector<ApiKey> keys = callers.keys;
  std::vector<User> users = callers.users;
  const auto add_meter = [&](auto& each) {
    const auto meter = callers.tenant_meters.find(each.caller.tenant);
    if (meter != callers.tenant_meters.end() && meter->second) each.caller.quotas.push_back(meter->second);
  };
  std::ranges::for_each(keys, add_meter);
  std::ranges::for_each(users, add_meter);
  std::ranges::for_each(stored.keys, add_meter);
  return std::make_shared<const Access>(std::move(keys), origin_policy_, std::move(users), sessions_,
                                        std::move(stored));
}

void Api::set_callers() {
  const std::vector<access::Session> before = access_.get()->holders();
  access_.set(access_of(callers_));
  if (sessions_ != nullptr) end_sessions_of_others(*sessions_, before, access_.get()->holders());
}

void Api::handle(const http::Request& request, http::Responder respond) {
  if (http::OriginPolicy::is_preflight(request)) return respond(origin_policy_.answer_preflight(request));
  auto work = std::make_shared<Work>(
      Work{.request = request, .respond = std::move(respond), .begin = steady_clock::now(), .request_id = {}});
  work->request_id = request_id_of(request);
  if (auto prepared = prepare(*work); !prepared) return finish(*work, base::propagate(std::move(prepared).error()));
  if (work->route->direct) return perform(*work);
  if (begin(work)) return;
  if (request.body.size() > least_counted_body) {
    work->reading = reading_->take(reading_factor * request.body.size());
    if (!work->reading)
      return finish(*work,
                    refuse(problems::overloaded, "Too many large requests are being read. Try again in a moment."));
  }
  if (!pool_for(work->route->waits).try_submit([this, work] { perform_in_turn(work); }))
    finish(*work, refuse(problems::overloaded, "Try again in a moment."));
}

base::ThreadPool& Api::pool_for(Waits waits) {
  if (waits == Waits::briefly) return pool_;
  return waits == Waits::for_others ? waiting_pool_ : receiving_pool_;
}

std::optional<http::Response> Api::refuse_early(const http::Request& request) {
  std::optional<http::Response> refusal;
  Work work{.request = request,
            .respond = [&refusal](http::Response response) { refusal = std::move(response); },
            .begin = steady_clock::now(),
            .request_id = request_id_of(request)};
  if (auto admitted = admit(work); !admitted)
    finish(work, base::propagate(std::move(admitted).error()));
  else if (work.route->operation.body.contents.empty() && request.announces_large_body())
    refusal = api::refusal(problems::body_too_large.status, random_);  // it takes none
  return refusal;
}

// Where it leads, and whether the caller may go there.
base::Result<void, Problem> Api::admit(Work& work) const {
  const http::Request& request = work.request;
  static const Caller anyone;
  TRY(Router::Match match, router_.find(request.method, request.path()));
  work.route = match.route;
  work.path_parameters = std::move(match.parameters);
  work.caller = &anyone;
  if (match.route->operation.right != Right::none) {
    work.access = access_.get();
    TRY(work.caller, work.access->check(request, match.route->operation.right, match.route->shared, &work.caller));
  }
  return {};
}

base::Result<void, Problem> Api::check_quotas(const Work& work) const {
  if (work.caller->quotas.empty()) return {};
  if (const auto used_up = access::take_request(work.caller->quotas, clock_.monotonic()))
    return refuse_over_quota(*used_up);
  return {};
}

// A call may have waited for a thread: a key that was revoked meanwhile does not count any more.
base::Result<void, Problem> Api::check_again(Work& work) const {
  if (!work.access) return {};
  auto access = access_.get();
  if (access == work.access) return {};
  const Route& route = *work.route;
  TRY(work.caller, access->check(work.request, route.operation.right, route.shared));
  work.access = std::move(access);
  return {};
}

base::Result<void, Problem> Api::prepare(Work& work) const {
  const http::Request& request = work.request;
  TRY_VOID(admit(work));
  TRY(work.query, Query::parse(request.query()));
  TRY_VOID(check_query(work.query, *work.route));
  TRY_VOID(check_quotas(work));
  return check_body(request, work.route->operation.body);
}

bool Api::begin(const std::shared_ptr<Work>& work) {
  if (work->route->begin == nullptr) return false;
  const access::CallerScope scope(work->caller->tenant, work->caller->customer);
  AnswerMemory answer(answers_.get());
  Call call{services_, work->request, *work->caller, work->path_parameters, work->query, answer};
  const Finish finish = [this, work](Outcome outcome) { this->finish(*work, std::move(outcome)); };
  try {
    return work->route->begin(call, finish);
  } catch (const std::exception& error) {
    finish(thrown(error));
    return true;
  }
}

std::optional<messages::BrokerTarget> Api::target_of(const Work& work) const {
  if (work.route->target == nullptr || !check_value_count(work.request)) return std::nullopt;
  AnswerMemory answer(nullptr);
  const Call call{services_, work.request, *work.caller, work.path_parameters, work.query, answer};
  try {
    return work.route->target(call);
  } catch (const std::exception&) {
    return std::nullopt;  // who performs the call meets it again, and tells
  }
}

void Api::perform_in_turn(const std::shared_ptr<Work>& work) {
  const auto target = target_of(*work);
  if (!target) return perform(*work);
  auto& shares = work->route->waits == Waits::for_messages ? receiving_shares_ : waiting_shares_;
  if (!shares.run(*target, [this, work] { perform(*work); }))
    finish(*work, refuse(problems::overloaded, "Too many calls wait for this broker. Try again in a moment."));
}

void Api::perform(Work& work) { finish(work, outcome_of(work)); }

// What it takes for the answer goes when this returns, before the answer does: a client that has it finds the room
// free.
Outcome Api::outcome_of(Work& work) {
  const Route& route = *work.route;
  if (auto checked = check_again(work); !checked) return base::propagate(std::move(checked).error());
  // Services believe it, whatever the handler asks them for.
  const access::CallerScope scope(work.caller->tenant, work.caller->customer);
  const objects::RequestTime time_for_objects;
  const store::CallerPatience patience;
  AnswerMemory answer(answers_.get());
  if (auto told = tell_audit(work); !told) return base::propagate(std::move(told).error());
  Call call{services_, work.request, *work.caller, std::move(work.path_parameters), std::move(work.query), answer};
  if (auto checked = check_value_count(work.request); !checked) return base::propagate(std::move(checked).error());
  if (route.large_answer && answers_ && answers_->exhausted()) {
    answers_->count_refusal();
    return too_many_answers();
  }
  const auto handle = [&] { return run([&] { return route.handle(call); }); };
  Outcome outcome = run([&] { return takes_key(route) ? handle_once_per_key(route, call, handle) : handle(); });
  if (outcome && outcome->stream && work.access)
    outcome->stream = std::make_shared<PermittedStream>(std::move(outcome->stream), access_, work.request, *work.caller,
                                                        route.operation.right, route.shared);
  return route.large_answer ? within_budget(answer, std::move(outcome)) : std::move(outcome);
}

// Of a read: what does not fit can be asked for again.
Outcome Api::within_budget(AnswerMemory& answer, Outcome outcome) const {
  if (answer.is_refused()) return too_many_answers();
  if (!outcome || !answers_) return outcome;
  base::MemoryBudget::Share memory = answer.share_for(outcome->body.size());
  if (!memory) return too_many_answers();
  outcome->memory = std::make_shared<base::MemoryBudget::Share>(std::move(memory));
  return outcome;
}

// The response goes last: with it, the request does.
void Api::finish(Work& work, Outcome outcome) {
  const bool is_told = !outcome && outcome.error().is_told;
  std::string cause = outcome ? std::string() : std::move(outcome.error().cause);
  // What the caller is told tells as much where nothing else is known.
  if (cause.empty() && !outcome && outcome.error().type.status >= first_server_error) cause = outcome.error().detail;
  const std::string code(outcome ? std::string_view() : outcome.error().type.code);
  Reply reply = outcome ? *std::move(outcome) : reply_of(std::move(outcome).error(), work.request_id);
  const auto time = steady_clock::now() - work.begin;
  if (work.caller != nullptr && !work.caller->quotas.empty())
    add_quota_headers(reply.headers, work.caller->quotas, clock_);
  if (work.route == nullptr) {
    statistics_.count_unrouted(reply.status);
  } else {
    statistics_.count(*work.route, reply.status, time);
    check_documented(work, reply.status);
    tell_audit_of_end(work, reply.status, code);
  }
  if (!is_told || log_requests_) log(work, reply.status, time, cause);
  http::Response response = response_of(std::move(reply), std::move(work.request_id));
  origin_policy_.add_origin(work.request, response);
  work.reading = {};  // before the answer, so that a client that has it finds the room free
  work.respond(std::move(response));
}

access::AuditEvent Api::event_of(const Work& work) const {
  access::AuditEvent event;
  if (work.caller != nullptr) {
    event.actor = work.caller->name;
    event.kind = audit_kind_of(*work.caller);
    event.tenant = work.caller->tenant;
  }
  event.from = origin_policy_.address_of(work.request);
  event.action = work.route->operation.id;
  event.subject = audit_subject_of(work.path_parameters);
  event.request_id = work.request_id;
  return event;
}

// Before it is done: whatever happens then, it is known who asked for it.
base::Result<void, Problem> Api::tell_audit(Work& work) const {
  if (audit_ == nullptr || !is_audited(*work.route)) return {};
  work.event = event_of(work);
  if (const auto recorded = audit_->record(work.event); !recorded) {
    auto refusal =
        refuse(problems::store_unavailable, "The audit cannot be written now. What it would tell of is not done.");
    refusal.value().cause = recorded.error().message;
    return refusal;
  }
  work.is_told = true;
  return {};
}

void Api::tell_audit_of_end(const Work& work, int status, const std::string& code) const {
  constexpr int unauthenticated = 401;
  constexpr int forbidden = 403;
  constexpr int first_error = 400;
  if (audit_ == nullptr || !is_audited(*work.route) || status < first_error) return;
  const bool is_refused = status == unauthenticated || status == forbidden;
  if (!work.is_told && !is_refused) return;  // it was not begun
  access::AuditEvent event = work.is_told ? work.event : event_of(work);
  event.result = is_refused ? access::AuditEvent::refused : access::AuditEvent::failed;
  event.detail = code;
  audit_->note(std::move(event));
}

void Api::check_documented(const Work& work, int status) {
  if (promised_[index_of(*work.route)].test(static_cast<std::size_t>(status))) return;
  statistics_.count_undocumented();
  base::log_error("api", "undocumented status",
                  {{"route", std::string(work.route->operation.path)}, {"status", std::to_string(status)}});
}

// Who asked for what, and what came of it; nothing of what was sent or stored.
void Api::log(const Work& work, int status, steady_clock::duration time, const std::string& cause) const {
  const bool failed = status >= first_server_error;
  if (!failed && !log_requests_) return;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  base::log_event(failed ? base::LogLevel::warning : base::LogLevel::info, "api", failed ? "failed" : "request",
                  {{"method", std::string(work.route == nullptr ? "" : work.request.method)},
                   {"route", std::string(work.route == nullptr ? "" : work.route->operation.path)},
                   {"status", std::to_string(status)},
                   {"milliseconds", std::to_string(milliseconds)},
                   {"request_id", work.request_id},
                   {"key", work.caller == nullptr ? "" : work.caller->name},
                   {"cause", cause}});
}

void Api::append_metrics(std::string& out) const {
  statistics_.append_to(out);
  if (sign_ins_) sign_ins_->append_metrics(out);
  base::append_metric(out, "postino_api_requests_waiting", "gauge", "Requests to the REST API that wait for a thread.",
                      std::to_string(pool_.waiting() + waiting_pool_.waiting() + receiving_pool_.waiting() +
                                     waiting_shares_.waiting() + receiving_shares_.waiting()));
}

std::string Api::request_id_of(const http::Request& request) const {
  const std::string_view given = request.header("x-request-id");
  return is_request_id(given) ? std::string(given) : base::make_uuid(random_);
}

http::Response refusal(int status, base::Random& random) {
  ProblemType type = problems::malformed_request;
  for (const ProblemType& known : {problems::body_too_large, problems::headers_too_large, problems::overloaded})
    if (known.status == status) type = known;
  type.status = status;
  const std::string id = base::make_uuid(random);
  http::Response response;
  response.status = status;
  response.content_type = problem_content_type;
  response.body = to_json({.type = type, .detail = std::string(type.title) + "."}, id);
  response.headers.emplace_back("X-Request-Id", id);
  return response;
}

}  // namespace postino::api
