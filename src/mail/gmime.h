// GMime's objects, owned.
#pragma once

#include <glib-object.h>

#include <memory>

namespace postino::mail {

// Must come before any other call of GMime. Safe from any thread, as often as one likes.
void start_gmime();

struct Unreference {
  void operator()(gpointer object) const { g_object_unref(object); }
};

// A reference of our own to a GObject.
template <class Object>
using Owned = std::unique_ptr<Object, Unreference>;

}  // namespace postino::mail
