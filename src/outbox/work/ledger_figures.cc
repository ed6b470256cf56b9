#include "outbox/work/ledger_figures.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/metrics_text.h"

namespace postino::outbox {

namespace {

constexpr std::pair<Pipeline, std::string_view> measured_pipelines[] = {
    {Pipeline::intake, "intake"}, {Pipeline::send, "send"}, {Pipeline::callback, "callback"}};

std::string in_seconds(std::chrono::milliseconds time) {
  return std::to_string(static_cast<double>(time.count()) / 1'000);
}

}  // namespace

base::Result<LedgerFigures::Figures> LedgerFigures::read() {
  Figures figures;
  figures.read = Steady::now();
  TRY(figures.counts, ledger_.counts(std::nullopt));
  for (std::size_t i = 0; i < pipeline_count; ++i) {
    TRY(const std::optional<base::TimePoint> oldest, ledger_.oldest_due(measured_pipelines[i].first));
    if (oldest) figures.ages[i] = std::max(clock_.now() - *oldest, base::Milliseconds(0));
  }
  return figures;
}

void LedgerFigures::look() {
  auto figures = read();
  {
    const std::lock_guard lock(mutex_);
    if (figures) figures_ = *std::move(figures);
    look_began_.reset();
  }
  looked_.notify_all();
}

void LedgerFigures::await_look(std::unique_lock<std::mutex>& lock) {
  if (!look_began_) {
    look_began_ = Steady::now();
    if (!asking_.try_submit([this] { look(); })) look_began_.reset();
  }
  if (look_began_) looked_.wait_until(lock, *look_began_ + patience_, [&] { return !look_began_; });
}

void LedgerFigures::append_to(std::string& out) {
  std::unique_lock lock(mutex_);
  await_look(lock);
  if (!figures_) return;
  base::append_metric_head(out, "postino_outbox_emails", "gauge", "E-mails in the ledger, by state.");
  for (const State state : all_states())
    out.append("postino_outbox_emails{state=\"")
        .append(name_of(state))
        .append("\"} ")
        .append(std::to_string(figures_->counts[static_cast<std::size_t>(state)]))
        .append("\n");
  base::append_metric_head(out, "postino_outbox_queue_age_seconds", "gauge",
                           "Time that the oldest due e-mail has been waiting, by pipeline; 0 if none is due.");
  for (std::size_t i = 0; i < pipeline_count; ++i)
    out.append("postino_outbox_queue_age_seconds{pipeline=\"")
        .append(measured_pipelines[i].second)
        .append("\"} ")
        .append(in_seconds(figures_->ages[i]))
        .append("\n");
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - figures_->read);
  base::append_metric(out, "postino_outbox_figures_age_seconds", "gauge",
                      "How long ago postino_outbox_emails and postino_outbox_queue_age_seconds were read: "
                      "seconds and more while the ledger does not answer.",
                      in_seconds(age));
}

}  // namespace postino::outbox
