// VisitReader: what an answer says about change: its validators, its dates, how it differs from the last visit
// (flow/visit.h). Everything is taken from one answer as the server sent it; nothing is believed or refused here.
//
// Validators for the next visit are kept of a page that was read in full or up to our own limit. A 304 keeps those that
// it repeats and those that it does not mention; if its ETag is another one than was asked for, the server contradicts
// itself, and the next visit asks for the whole page.
//
// Thread: one owner. Memory bound: that of Visit, without hints.

#pragma once

#include "flow/page_result.h"
#include "parse/page_view.h"
#include "warc/digest.h"

namespace portolan {

class VisitReader {
 public:
  // After the handler and the stages. REQUIRES: result.visit is set.
  void Read(const PageView& view, PageResult& result);

 private:
  Digester sha1_;
};

}  // namespace portolan
