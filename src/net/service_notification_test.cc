#include "net/service_notification.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/descriptor.h"
#include "base/temporary_directory.h"

namespace postino::net {
namespace {

// What systemd has: a datagram socket, by path or, with @, by a name in the abstract namespace.
class ServiceManager {
 public:
  explicit ServiceManager(const std::string& name) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(socket_.number(), reinterpret_cast<const sockaddr*>(&address), length), 0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }
  ~ServiceManager() { ::unsetenv("NOTIFY_SOCKET"); }

  std::string receive() const {
    std::array<char, 1000> buffer{};
    const ssize_t count = ::recv(socket_.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    return count < 0 ? "(nothing)" : std::string(buffer.data(), static_cast<std::size_t>(count));
  }

 private:
  base::Descriptor socket_;
};

TEST(ServiceNotificationTest, ReachesASocketInTheFileSystem) {
  const base::TemporaryDirectory directory;
  const ServiceManager manager((directory.path() / "notify").string());
  EXPECT_TRUE(notify_service_manager("READY=1\nSTATUS=Serving"));
  EXPECT_EQ(manager.receive(), "READY=1\nSTATUS=Serving");
}

TEST(ServiceNotificationTest, ReachesAnAbstractSocket) {
  const ServiceManager manager("@postino-test-" + std::to_string(::getpid()));
  EXPECT_TRUE(notify_service_manager("STOPPING=1"));
  EXPECT_EQ(manager.receive(), "STOPPING=1");
}

TEST(ServiceNotificationTest, DoesNothingWithoutAServiceManager) {
  ::unsetenv("NOTIFY_SOCKET");
  EXPECT_FALSE(notify_service_manager("READY=1"));
  for (const std::string name : {"", "relative", "/", "/nobody/listens/here"}) {
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    EXPECT_FALSE(notify_service_manager("READY=1")) << name;
  }
  ::setenv("NOTIFY_SOCKET", ("/" + std::string(200, 'x')).c_str(), 1);
  EXPECT_FALSE(notify_service_manager("READY=1"));
  ::unsetenv("NOTIFY_SOCKET");
}

}  // namespace
}  // namespace postino::net
