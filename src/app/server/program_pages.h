// The pages of the program and its libraries that the process has in memory.
#pragma once

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace postino::app {

// A start runs through much code that is hardly ever needed again. The system counts its pages as memory of this
// process until it is short of memory. This gives them back; what is needed is mapped again when it is called, and is
// still in the file cache. Only code is given back: nothing has written to it, so it is as it is in the files.
inline void give_back_program_pages() {
  const auto give_back = [](dl_phdr_info* object, std::size_t, void*) {
    const char first_letter = *object->dlpi_name;
    if (first_letter != '\0' && first_letter != '/') return 0;  // what the kernel has mapped, from no file
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
      const auto& segment = object->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || (segment.p_flags & PF_W) != 0) continue;
      const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
      const std::uintptr_t first = begin / page * page;
      const std::uintptr_t end = (begin + segment.p_filesz) / page * page;  // the rest may be shared with data
      // Where it is refused nothing is lost.
      if (first < end) (void)::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
    }
    return 0;
  };
  ::dl_iterate_phdr(give_back, nullptr);
}

}  // namespace postino::app
