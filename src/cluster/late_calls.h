// LateCalls: numbers in place of pointers for callbacks of a C library, which may come after the object that they are
// for has gone. The callback asks for the object by its number, and gets nothing then.
//
// Thread: any. Memory bound: one entry per object that lives.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace portolan {

template <typename T>
class LateCalls {
 public:
  static uint64_t Add(std::shared_ptr<T> object) {
    Table& table = Get();
    const std::lock_guard lock(table.mutex);
    table.objects[++table.last] = std::move(object);
    return table.last;
  }
  static void Remove(uint64_t number) {
    Table& table = Get();
    const std::lock_guard lock(table.mutex);
    table.objects.erase(number);
  }
  static std::shared_ptr<T> Find(void* closure) {
    Table& table = Get();
    const std::lock_guard lock(table.mutex);
    const auto found = table.objects.find(reinterpret_cast<uintptr_t>(closure));
    return found == table.objects.end() ? nullptr : found->second;
  }
  static void* Closure(uint64_t number) { return reinterpret_cast<void*>(static_cast<uintptr_t>(number)); }

 private:
  struct Table {
    std::mutex mutex;
    std::map<uint64_t, std::shared_ptr<T>> objects;  // guarded by mutex
    uint64_t last = 0;                               // guarded by mutex
  };
  static Table& Get() {
    static Table& table = *new Table;  // threads of the library may outlive main
    return table;
  }
};

}  // namespace portolan
