// The parts of `portolan warc` that have a file of their own.

#pragma once

namespace portolan {

int RunWarcCat(int argc, char** argv);

}  // namespace portolan
