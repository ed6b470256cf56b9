#include "outbox/work/statistics.h"

#include <algorithm>
#include <charconv>

#include "base/metrics_text.h"
#include "outbox/email/state_machine.h"

namespace postino::outbox {

namespace {

std::string shown_number(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return std::string(text.data(), end);
}

void append_line(std::string& out, std::string_view name, std::string_view labels, std::string_view value) {
  out.append(name).append("{").append(labels).append("} ").append(value).append("\n");
}

}  // namespace

const std::array<double, Statistics::bucket_count> Statistics::bounds = {0.01, 0.025, 0.05, 0.1, 0.25,  0.5,
                                                                         1,    5,     30,   300, 3'600, 86'400};

void Statistics::moved(const Email& before, const Email& after) {
  ++entered_[static_cast<std::size_t>(after.state)];
  if (before.state == State::processing && after.state == State::ready && after.attempts == before.attempts) ++retries_;
  if (acknowledged_form(before.state) && after.state == rescued_form(before.state) &&
      after.callback_attempts == before.callback_attempts)
    ++callback_failures_;
  if (after.callback_dead) ++dead_callbacks_;
  if (after.state != State::sent || before.state != State::processing) return;
  const base::Milliseconds time = after.updated_at - wanted_from(after);
  const double seconds = std::max(0.0, static_cast<double>(time.count()) / 1'000);
  const auto bucket = std::ranges::lower_bound(bounds, seconds) - bounds.begin();
  ++until_sent_[static_cast<std::size_t>(bucket)];
  until_sent_milliseconds_ += static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
}

void Statistics::rescued(const Email& before) { ++rescued_[static_cast<std::size_t>(before.state)]; }

void Statistics::append_to(std::string& out) const {
  base::append_metric_head(out, "postino_outbox_transitions_total", "counter",
                           "E-mails moved by the pipelines of this process, by new state. Acceptances, claims and the "
                           "changes of operators are not counted.");
  for (const State state : all_states())
    append_line(out, "postino_outbox_transitions_total", "state=\"" + std::string(name_of(state)) + "\"",
                std::to_string(entered_[static_cast<std::size_t>(state)].load()));
  base::append_metric_head(
      out, "postino_outbox_rescues_total", "counter",
      "E-mails taken back because the lease of their worker had ended, by the state they were in.");
  for (const State state : all_states())
    if (kind_of(state) == StateKind::working)
      append_line(out, "postino_outbox_rescues_total", "state=\"" + std::string(name_of(state)) + "\"",
                  std::to_string(rescued_[static_cast<std::size_t>(state)].load()));
  base::append_metric(out, "postino_outbox_retries_total", "counter", "Attempts at sending that failed temporarily.",
                      std::to_string(retries_.load()));
  base::append_metric(out, "postino_outbox_callback_failures_total", "counter",
                      "Attempts at callbacks that were not acknowledged.", std::to_string(callback_failures_.load()));
  base::append_metric(out, "postino_outbox_dead_callbacks_total", "counter",
                      "Callbacks given up because no attempt was acknowledged.",
                      std::to_string(dead_callbacks_.load()));
  constexpr std::string_view name = "postino_outbox_accept_to_sent_seconds";
  base::append_metric_head(out, name, "histogram", "Time from acceptance, or from send_at, until an e-mail was sent.");
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= bucket_count; ++i) {
    total += until_sent_[i];
    append_line(out, std::string(name) + "_bucket",
                "le=\"" + (i < bucket_count ? shown_number(bounds[i]) : "+Inf") + "\"", std::to_string(total));
  }
  out.append(name)
      .append("_sum ")
      .append(shown_number(static_cast<double>(until_sent_milliseconds_) / 1'000))
      .append("\n");
  out.append(name).append("_count ").append(std::to_string(total)).append("\n");
}

}  // namespace postino::outbox
