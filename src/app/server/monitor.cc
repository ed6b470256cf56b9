#include "app/server/monitor.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/metrics_text.h"

namespace postino::app {

namespace {

constexpr int unavailable_status = 503;

http::Response text_response(int status, std::string body) {
  http::Response response;
  response.status = status;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = std::move(body);
  return response;
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total_pages = 0;
  double resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double open_descriptors() {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator each("/proc/self/fd", error), end; !error && each != end;
       each.increment(error))
    ++count;
  return count;
}

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string joined(std::string text, const std::string& more) {
  if (more.empty()) return text;
  return text.empty() ? more : text + "; " + more;
}

const auto start_time = std::chrono::system_clock::now();

}  // namespace

std::string Monitor::problem() const {
  std::string text;
  for (const Check& check : checks_)
    if (const auto wrong = check()) text = joined(std::move(text), *wrong);
  return text;
}

std::string Monitor::trouble() const {
  std::string text;
  if (troubles_)
    for (const std::string& each : troubles_()) text = joined(std::move(text), each);
  return text;
}

bool Monitor::handle(const http::Request& request, const http::Responder& respond) {
  if (request.method != "GET" && request.method != "HEAD") return false;
  const std::string_view path = request.path();
  if (path == "/healthz") {
    const std::string wrong = joined(problem(), trouble());
    respond(text_response(200, wrong.empty() ? "ok\n" : "running, but " + wrong + "\n"));
  } else if (path == "/readyz") {
    const std::string wrong = problem();
    const std::string all = joined(wrong, trouble());
    if (ready_ && wrong.empty())
      respond(text_response(200, all.empty() ? "ready\n" : "ready, but " + all + "\n"));
    else
      respond(text_response(unavailable_status, "not ready" + (all.empty() ? "" : ": " + all) + "\n"));
  } else if (path == "/metrics") {
    answer_metrics(request, respond);
  } else {
    return false;
  }
  return true;
}

void Monitor::answer_metrics(const http::Request& request, const http::Responder& respond) {
  // They are about all tenants.
  base::Result<const api::Caller*, api::Problem> reader = nullptr;
  const auto readers = readers_.get();
  if (readers) reader = readers->check(request, api::Right::read, true);
  if (!reader) {
    http::Response refusal = text_response(reader.error().type.status, reader.error().detail + "\n");
    refusal.headers = std::move(reader.error().headers);
    return respond(std::move(refusal));
  }
  const bool taken = workers_.try_submit([this, respond] {
    std::string text;
    for (const Source& source : sources_) source(text);
    respond(text_response(200, std::move(text)));
  });
  if (!taken) respond(text_response(unavailable_status, "too many requests for metrics at a time\n"));
}

void append_process_metrics(std::string& out) {
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help, double value) {
    base::append_metric(out, name, type, help, std::to_string(value));
  };
  add("process_resident_memory_bytes", "gauge", "Resident memory of the process.", resident_bytes());
  add("process_open_fds", "gauge", "Open file descriptors of the process.", open_descriptors());
  add("process_cpu_seconds_total", "counter", "CPU time of the process, user and system.", processor_seconds());
  add("process_start_time_seconds", "gauge", "Start time of the process since the Unix epoch.",
      std::chrono::duration<double>(start_time.time_since_epoch()).count());
}

}  // namespace postino::app
