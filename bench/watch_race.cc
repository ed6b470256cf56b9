#include "watch_race.h"

#include <algorithm>
#include <cstdio>

#include "child_process.h"
#include "net/local_ports_testing.h"
#include "server_process.h"

namespace postino::bench {

namespace {

constexpr double most_ratio = 1.02;
constexpr int busy_connections = 16;
constexpr std::size_t rendered_requests = 5'000;

class WatchedServer {
 public:
  WatchedServer(const std::filesystem::path& program, const std::filesystem::path& data, bool watches)
      : process_(command(program, data, port_, watches), port_) {}

  std::uint16_t port() const { return port_; }

  // Microseconds for a request, in this turn.
  double run(HttpLoad& load, Duration turn) const {
    const double before = cpu_seconds(process_.process());
    const LoadResult result = load.run(turn);
    return (cpu_seconds(process_.process()) - before) * 1e6 /
           static_cast<double>(std::max<std::uint64_t>(1, result.answers));
  }

 private:
  static std::vector<std::string> command(const std::filesystem::path& program, const std::filesystem::path& data,
                                          std::uint16_t port, bool watches) {
    std::vector<std::string> words{program.string(), "serve",       "--data",     data.string(),
                                   "--http",         "127.0.0.1:0", "--dynamodb", "127.0.0.1:" + std::to_string(port)};
    if (!watches) words.emplace_back("--no-watch");
    return words;
  }

  const std::uint16_t port_ = net::free_port();
  ServerProcess process_;
};

}  // namespace

void measure_watch(const std::filesystem::path& program, const std::filesystem::path& directory, const Plan& plan,
                   const std::function<void(std::uint16_t port)>& fill,
                   const std::vector<std::pair<std::string, RequestSource>>& requests) {
  const WatchedServer plain(program, directory / "plain", false);
  const WatchedServer watched(program, directory / "watched", true);
  for (const WatchedServer* const server : {&plain, &watched}) fill(server->port());
  for (const auto& [name, source] : requests) {
    HttpLoad to_plain(plain.port(), busy_connections, source, rendered_requests);
    HttpLoad to_watched(watched.port(), busy_connections, source, rendered_requests);
    double without = 1e12;
    double with = 1e12;
    for (int round = 0; round < 2 * plan.rounds; ++round) {
      without = std::min(without, plain.run(to_plain, plan.turn));
      with = std::min(with, watched.run(to_watched, plan.turn));
    }
    const double ratio = with / without;
    std::printf("%-26s CPU us/request: %.2f, with the watch %.2f: %+.1f %% (bar %.0f %% %s)\n", name.c_str(), without,
                with, (ratio - 1) * 100, (most_ratio - 1) * 100, ratio <= most_ratio ? "ok" : "above");
    std::fflush(stdout);
  }
}

}  // namespace postino::bench
