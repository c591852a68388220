#pragma once

#include <cstdint>

#include <weir/load_pipeline.hpp>

namespace weir::program {

/// Asks the kernel to drop the pages of every file that the pipeline reads, so that a run shows the
/// disk. Returns how many files there were. Pages that others hold or that are not yet on the disk
/// stay.
std::uint64_t drop_pages(const Pipeline& pipeline);

}  // namespace weir::program
