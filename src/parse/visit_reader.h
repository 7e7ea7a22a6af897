// VisitReader: what an answer says about change (flow/visit_facts.h), and the digest of its payload, which is taken
// from the archive's or content-seen's where they have it.
//
// Thread: one owner.

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
