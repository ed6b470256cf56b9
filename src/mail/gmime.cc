#include "mail/gmime.h"

#include <gmime/gmime.h>

#include <mutex>

namespace postino::mail {

void start_gmime() {
  static std::once_flag started;
  std::call_once(started, g_mime_init);
}

}  // namespace postino::mail
