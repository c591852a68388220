// A sample that cannot be used is thrown as BadSample; the run skips it, refills its place in the
// batch from the stream, and lists it with its reason. More than a fifth of such samples would end
// the run.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>

#include <weir/error.hpp>
#include <weir/weir.hpp>

int main() {
  auto pipeline = weir::range(100)
                      .map("check",
                           [](std::int64_t n) {
                             if (n % 10 == 3) throw weir::BadSample("ends in a three");
                             return n;
                           })
                      .batch(5);

  weir::Options options;
  options.on_bad_sample.action = weir::BadSamplePolicy::Action::skip;
  options.on_bad_sample.max_rate = 0.2;
  options.quarantine = "bad_samples.quarantine.txt";
  auto loader = pipeline.start(options);
  std::uint64_t good = 0;
  for (auto& batch : loader.epoch(0)) good += batch.size();
  loader.close();

  const weir::Summary summary = loader.summary();
  std::cout << good << " good, " << summary.bad_count << " bad:\n"
            << std::ifstream(summary.quarantine).rdbuf();

  // Without a policy the first bad sample, in the order of the stream, reaches next().
  try {
    auto strict = pipeline.start();
    while (strict.next()) continue;
  } catch (const weir::Error& error) {
    std::cout << "without a policy: " << error.what() << '\n';
    return good == 90 && summary.bad_count == 10 ? 0 : 1;
  }
  return 1;
}
