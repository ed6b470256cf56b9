// A server that takes connections and says nothing, as one that is stopped does.
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <thread>

#include "base/descriptor.h"
#include "base/many_threads_testing.h"
#include "base/temporary_directory.h"
#include "mysql/pool.h"
#include "net/raw_server_testing.h"

namespace postino::mysql {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::HasSubstr;

// Clients reach it by a socket in the file system.
class SilentLocalServer {
 public:
  SilentLocalServer() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.number(), 8), 0);
  }

  std::string path() const { return (directory_.path() / "mysql.sock").string(); }
  // Waits until there is one.
  base::Descriptor take_connection() { return base::Descriptor(::accept(listener_.number(), nullptr, nullptr)); }

 private:
  const base::TemporaryDirectory directory_;
  const base::Descriptor listener_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

TEST(SilentServer, AConnectionThatIsBeingOpenedCanBeBrokenOff) {
  net::RawServer server([](net::RawPeer& peer) { peer.wait_for_end(); });
  ServerOptions options;
  options.port = server.port();
  options.connect_timeout = hours(1);
  options.sockets = std::make_shared<OpenSockets>();
  std::thread end([&] {
    EXPECT_TRUE(base::eventually([&] { return server.connections() == 1; }));
    options.sockets->break_off();
  });
  const auto connection = Connection::open(options);
  end.join();
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().kind, ErrorKind::lost);
}

TEST(SilentServer, SoCanOneOverALocalSocket) {
  SilentLocalServer server;
  ServerOptions options;
  options.socket = server.path();
  options.connect_timeout = hours(1);
  options.sockets = std::make_shared<OpenSockets>();
  base::Descriptor taken;
  std::thread end([&] {
    taken = server.take_connection();
    options.sockets->break_off();
  });
  const auto connection = Connection::open(options);
  end.join();
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().kind, ErrorKind::lost);
}

TEST(SilentServer, WhenItIsTooLateNoConnectionIsOpened) {
  net::RawServer server([](net::RawPeer& peer) { peer.wait_for_end(); });
  ServerOptions options;
  options.port = server.port();
  options.connect_timeout = hours(1);
  options.sockets = std::make_shared<OpenSockets>();
  options.sockets->break_off();
  const auto connection = Connection::open(options);
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().kind, ErrorKind::lost);
}

TEST(SilentServer, AnEntryOutlivesTheSocketOfTheLibrary) {
  const auto sockets = std::make_shared<OpenSockets>();
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  base::Descriptor ours(pair[0]);
  base::Descriptor others(pair[1]);
  SocketEntry entry(sockets);
  ASSERT_TRUE(entry.set(ours.number()));
  const int number = ours.number();
  ours.reset();  // as the library does with a connection that fails
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  ours = base::Descriptor(pair[0]);
  others = base::Descriptor(pair[1]);
  ASSERT_EQ(ours.number(), number) << "numbers are used again";
  sockets->break_off();
  EXPECT_EQ(::send(ours.number(), "x", 1, MSG_NOSIGNAL), 1) << "it belongs to somebody else by now";
}

TEST(SilentServer, IsNotAskedByEveryCaller) {
  net::RawServer server([](net::RawPeer& peer) { peer.wait_for_end(); });
  ServerOptions options;
  options.port = server.port();
  options.connect_timeout = seconds(1);
  Statistics statistics;
  Pool pool(options, {}, statistics);
  ASSERT_FALSE(pool.take());
  EXPECT_TRUE(base::eventually([&] { return server.connections() == 1; }));
  const auto next = pool.take();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().kind, ErrorKind::silent);
  EXPECT_THAT(next.error().message, HasSubstr("did not answer a moment ago"));
  EXPECT_EQ(server.connections(), 1);
}

}  // namespace
}  // namespace postino::mysql
