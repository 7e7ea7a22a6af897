// Exceptions of Xapian's become Errors here: none leaves this module.
//
// Thread: pure functions.

#pragma once

#include <xapian.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace portolan {

// kBusy: another process writes it, or has written it twice while it was read. kNoSpace: the disk is full. kIo: the
// system refused. kCorrupt: all else.
Error XapianError(std::string_view what, const Xapian::Error& error);

// The result of `call`, which gives a Status or a Result; what it throws becomes an Error about `what`.
template <typename Call>
auto WithoutExceptions(std::string_view what, Call&& call) -> std::invoke_result_t<Call> {
  try {
    return std::forward<Call>(call)();
  } catch (const Xapian::Error& error) {
    return std::unexpected(XapianError(what, error));
  } catch (const std::exception& error) {  // bad_alloc and length_error, of lengths that a damaged file gives
    return Fail(ErrorCode::kCorrupt, std::string(what) + ": " + error.what());
  }
}

}  // namespace portolan
