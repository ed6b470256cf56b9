// Names of threads, for those who look at a process from outside.
#pragma once

#include <pthread.h>

#include <string>

namespace postino::base {

// Of the calling thread. The system keeps the first 15 characters.
inline void name_thread(const std::string& name) { pthread_setname_np(pthread_self(), name.substr(0, 15).c_str()); }

}  // namespace postino::base
