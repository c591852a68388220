#pragma once

#include <memory>
#include <string>

#include <weir/file_index.hpp>
#include <weir/sources.hpp>

#include "pipeline/storage.hpp"

namespace weir::detail {

/// The files of `index` in its order, read from `storage`; `name` is the operator's.
[[nodiscard]] Stream<Path> stream_of_files(const std::string& name, FileIndex index,
                                           std::shared_ptr<Storage> storage);

}  // namespace weir::detail
