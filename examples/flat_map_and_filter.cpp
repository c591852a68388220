// One value becomes several, some of them are left out, and batches are full all the same: batch k
// holds the survivors k * n to k * n + n - 1, in the order of the source.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <weir/weir.hpp>

int main() {
  const std::vector<std::string> lines{"a weir in a river", "holds the level and", "",
                                       "regulates the flow"};
  auto pipeline = weir::from(lines)
                      .flat_map("words",
                                [](const std::string& line) {
                                  std::istringstream stream(line);
                                  std::vector<std::string> words;
                                  for (std::string word; stream >> word;) words.push_back(word);
                                  return words;
                                })
                      .filter("long", [](const std::string& word) { return word.size() > 2; })
                      .batch(3);

  auto loader = pipeline.start();
  std::string all;
  for (auto& batch : loader.epoch(0)) {
    for (const std::string& word : batch) all += word + ' ';
    all += "| ";
  }
  std::cout << all << '\n';
  return all == "weir river holds | the level and | regulates the flow | " ? 0 : 1;
}
