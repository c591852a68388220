#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/photo_folder.hpp"
#include "tests/program/program_run.hpp"

namespace weir::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A pipeline on generated photographs, some of them damaged; `decode` and `crop` beside their
/// operators.
std::string pipeline(const std::string& name, const std::string& beside_decode = "",
                     const std::string& beside_crop = "") {
  return temporary_file(name, R"(weir: 1
name: paths
seed: 3
pipeline:
  - photos: {count: 90, width: 300, height: 220, bad: 5%}
  - decode: {}
)" + beside_decode + R"(  - random_resized_crop: {size: 48}
)" + beside_crop + R"(  - random_horizontal_flip: {}
  - normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}
  - hwc_to_chw: {}
  - batch: {size: 16}
run: {on_bad_sample: {action: skip, max: 50%}}
)");
}

json run(const std::string& file, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"run",      file,           "--json", "--quiet",
                                 "--digest", "--quarantine", "none"};
  words.insert(words.end(), more.begin(), more.end());
  const ProgramEnd end = run_program(words);
  EXPECT_EQ(end.status, 0) << end.err;
  return json::parse(end.out, nullptr, false);
}

TEST(ImagePath, IsSaidByCheckAndByTheRun) {
  const std::string file = pipeline("paths.yaml");
  const std::string chain =
      "decode+random_resized_crop+random_horizontal_flip+normalize+hwc_to_chw";
  EXPECT_THAT(run_program({"check", file}).out, HasSubstr("one kernel for " + chain));
  EXPECT_EQ(json::parse(run_program({"check", file, "--json"}).out)["image_kernels"],
            json::array({chain}));
  EXPECT_THAT(run_program({"run", file, "--quarantine", "none"}).err,
              HasSubstr("one image kernel does the work of " + chain));
  const ProgramEnd plain = run_program({"check", file, "--image-path", "plain"});
  EXPECT_THAT(plain.out, testing::Not(HasSubstr("kernel")));
}

TEST(ImagePath, HasADigestOfItsOwnWhateverTheStages) {
  const std::string file = pipeline("paths.yaml");
  const json kernel = run(file);
  EXPECT_GE(kernel["bad_samples"]["count"].get<int>(), 1);
  const std::string digest = kernel["digest"];
  for (const std::vector<std::string>& way :
       {std::vector<std::string>{"--workers", "1"},
        {"--workers", "4", "--oversubscribe", "--fuse", "off"},
        {"--workers", "4", "--oversubscribe", "--fuse", "all"}})
    EXPECT_EQ(run(file, way)["digest"], digest);
  // A setting by hand keeps an operator in its own stage, and changes no pixel.
  EXPECT_EQ(run(pipeline("decode_alone.yaml", "    workers: 1\n"))["digest"], digest);
  EXPECT_EQ(run(pipeline("crop_alone.yaml", "", "    cap: 1\n"))["digest"], digest);
  const json both = run(pipeline("both_alone.yaml", "    cap: 2\n", "    queue: 9\n"));
  EXPECT_EQ(both["digest"], digest);
  EXPECT_EQ(both["stages"][0]["name"], "decode");

  const json plain = run(file, {"--image-path", "plain"});
  EXPECT_NE(plain["digest"], digest);
  EXPECT_EQ(plain["bad_samples"], kernel["bad_samples"]);
  EXPECT_EQ(run(file, {"--image-path", "plain", "--fuse", "off"})["digest"], plain["digest"]);
}

TEST(ImagePath, TellsItsOperatorsApart) {
  const json stages = run(pipeline("paths.yaml"))["stages"];
  bool found = false;
  for (const json& stage : stages) {
    if (!stage["name"].get<std::string>().starts_with("decode+")) continue;
    found = true;
    EXPECT_EQ(stage["operators"].size(), 5U);
  }
  EXPECT_TRUE(found);
}

TEST(ImagePath, IsPartOfTheStructure) {
  const std::string file = pipeline("paths.yaml");
  const auto structure = [&](const std::string& path) {
    return json::parse(
               run_program({"check", file, "--json", "--image-path", path}).out)["structure"]
        .get<std::string>();
  };
  EXPECT_NE(structure("auto"), structure("plain"));
}

}  // namespace
}  // namespace weir::test
