#include "wire/fault_injection.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <string>

#include "wire/delayed_calls.h"
#include "wire/protocol/operation.h"

namespace postino::wire {

namespace {

tl::unexpected<base::Error> refuse(std::string_view part, std::string_view rule) {
  return base::invalid("'" + std::string(part) + "': " + std::string(rule));
}

base::Result<double> parse_share(std::string_view part, std::string_view text) {
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error != std::errc() || end != text.data() + text.size() || share < 0 || share > 1)
    return refuse(part, "the share of requests must be a number from 0 to 1");
  return share;
}

base::Result<std::chrono::milliseconds> parse_latency(std::string_view part, std::string_view text) {
  constexpr int max_milliseconds = 60'000;
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit(end, text.data() + text.size());
  const bool in_seconds = unit == "s" && count <= max_milliseconds / 1'000;
  if (in_seconds) count *= 1'000;
  if (error != std::errc() || (unit != "ms" && !in_seconds) || count < 0 || count > max_milliseconds)
    return refuse(part, "latency must be a time up to 60s, such as 20ms");
  return std::chrono::milliseconds(count);
}

double draw() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

}  // namespace

base::Result<FaultInjection> FaultInjection::parse(std::string_view text) {
  FaultInjection faults;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    if (name == "throttle") {
      TRY(faults.throttle, parse_share(part, value));
    } else if (name == "error") {
      TRY(faults.error, parse_share(part, value));
    } else if (name == "latency") {
      TRY(faults.latency, parse_latency(part, value));
    } else {
      return refuse(part, "what can be injected is throttle=SHARE, error=SHARE and latency=TIME");
    }
  }
  return faults;
}

std::string FaultInjection::text() const {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& value) {
    out.append(out.empty() ? "" : ",").append(name).append("=").append(value);
  };
  const auto share = [](double number) {
    std::string digits = std::to_string(number);
    return digits.substr(0, digits.find_last_not_of('0') + 1);
  };
  if (throttle > 0) add("throttle", share(throttle));
  if (error > 0) add("error", share(error));
  if (latency.count() > 0) add("latency", std::to_string(latency.count()) + "ms");
  return out;
}

FaultInjector::FaultInjector(FaultInjection faults)
    : faults_(faults), active_(faults.throttle > 0 || faults.error > 0 || faults.latency.count() > 0) {
  if (faults.latency.count() > 0) delayed_ = std::make_unique<DelayedCalls>(faults.latency);
}

FaultInjector::~FaultInjector() = default;

std::optional<Reply> FaultInjector::choose(const Operation& operation) const {
  if (faults_.throttle > 0 && draw() < faults_.throttle) {
    if (operation.plane == Plane::control) return failure({store::ErrorType::throttling, "Rate exceeded"});
    return failure({store::ErrorType::provisioned_throughput_exceeded, std::string(store::table_throughput_exceeded)});
  }
  if (faults_.error > 0 && draw() < faults_.error)
    return failure({store::ErrorType::internal_server_error, "Internal server error"});
  return std::nullopt;
}

void FaultInjector::after_latency(std::function<void()> call) {
  if (delayed_)
    delayed_->add(std::move(call));
  else
    call();
}

}  // namespace postino::wire
