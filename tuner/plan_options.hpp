#pragma once

#include <weir/options.hpp>

#include "pipeline/stage_plan.hpp"

namespace weir::detail {

[[nodiscard]] inline Fusion fusion_of(Fuse fuse) {
  switch (fuse) {
    case Fuse::automatic:
      return Fusion::automatic;
    case Fuse::all:
      return Fusion::all;
    case Fuse::off:
      return Fusion::off;
  }
  return Fusion::automatic;
}

[[nodiscard]] inline ImageKernels kernels_of(ImagePath path) {
  return path == ImagePath::plain ? ImageKernels::off : ImageKernels::automatic;
}

}  // namespace weir::detail
