#include "src/contact_sheet.hpp"

#include <algorithm>
#include <cmath>

#include <weir/error.hpp>

#include "src/whole_file.hpp"

#ifdef WEIR_WITH_OPENCV

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

namespace weir::program {
namespace {

constexpr int kSide = 192;
constexpr int kCaption = 22;
constexpr int kMargin = 8;

/// As BGR, which is what OpenCV writes.
cv::Mat as_bgr(const Tensor& image) {
  const Shape& shape = image.shape();
  const int channels = static_cast<int>(shape[2]);
  const cv::Mat view(static_cast<int>(shape[0]), static_cast<int>(shape[1]), CV_8UC(channels),
                     image.bytes());
  cv::Mat bgr;
  cv::cvtColor(view, bgr,
               channels == 1   ? cv::COLOR_GRAY2BGR
               : channels == 4 ? cv::COLOR_RGBA2BGR
                               : cv::COLOR_RGB2BGR);
  return bgr;
}

/// What the font has: printable ASCII, and no more than fits.
std::string printable(const std::string& caption) {
  constexpr std::size_t kMost = 26;
  std::string text;
  for (const char c : caption) text += c >= ' ' && c <= '~' ? c : '?';
  return text.size() <= kMost ? text : text.substr(0, kMost - 2) + "..";
}

}  // namespace

void write_contact_sheet(const std::vector<Picture>& pictures, const std::string& path) {
  const int count = static_cast<int>(pictures.size());
  const int columns = std::max(1, static_cast<int>(std::ceil(std::sqrt(count))));
  const int rows = (count + columns - 1) / columns;
  const int cell_width = kSide + kMargin;
  const int cell_height = kSide + kCaption + kMargin;
  std::vector<unsigned char> encoded;
  try {
    cv::Mat sheet(rows * cell_height + kMargin, columns * cell_width + kMargin, CV_8UC3,
                  cv::Scalar(255, 255, 255));
    for (int i = 0; i < count; ++i) {
      const cv::Mat image = as_bgr(pictures[static_cast<std::size_t>(i)].image);
      const double scale = static_cast<double>(kSide) / std::max(image.rows, image.cols);
      const int width = std::clamp(static_cast<int>(std::lround(image.cols * scale)), 1, kSide);
      const int height = std::clamp(static_cast<int>(std::lround(image.rows * scale)), 1, kSide);
      const int left = kMargin + i % columns * cell_width;
      const int top = kMargin + i / columns * cell_height;
      cv::Mat place =
          sheet(cv::Rect(left + (kSide - width) / 2, top + (kSide - height) / 2, width, height));
      cv::resize(image, place, place.size(), 0, 0, scale < 1 ? cv::INTER_AREA : cv::INTER_NEAREST);
      cv::putText(sheet, printable(pictures[static_cast<std::size_t>(i)].caption),
                  cv::Point(left, top + kSide + kCaption - 6), cv::FONT_HERSHEY_SIMPLEX, 0.4,
                  cv::Scalar(0, 0, 0), 1, cv::LINE_AA);
    }
    cv::imencode(".png", sheet, encoded);
  } catch (const cv::Exception& error) {
    throw Error(ErrorKind::cannot, path, std::string("the sheet cannot be drawn: ") + error.what());
  }
  write_whole_file(path, std::string(encoded.begin(), encoded.end()));
}

}  // namespace weir::program

#else

namespace weir::program {

void write_contact_sheet(const std::vector<Picture>&, const std::string& path) {
  throw Error(ErrorKind::cannot, path,
              "no sheet can be drawn: this program was built without OpenCV (WEIR_WITH_OPENCV)");
}

}  // namespace weir::program

#endif
