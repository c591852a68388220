#pragma once

#include <string>
#include <vector>

#include <weir/tensor.hpp>

namespace weir::program {

struct Picture {
  Tensor image;  ///< u8, rows x columns x 1, 3 (RGB) or 4 channels
  std::string caption;
};

/// Writes the pictures side by side, each fitted into a square with its caption below, as a PNG.
/// Throws Error(cannot) where the file cannot be written or the program was built without OpenCV.
void write_contact_sheet(const std::vector<Picture>& pictures, const std::string& path);

}  // namespace weir::program
