#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace verbatim::transformer {

// Undoes the appends of a step, the last first, unless they are kept. OwnHistory: a decoder's history type with
// length(), append(...) and truncate(length).
template <typename OwnHistory>
class Appended {
 public:
  Appended() = default;
  ~Appended() {
    for (auto place = places_.rbegin(); place != places_.rend(); ++place) place->first->truncate(place->second);
  }
  Appended(const Appended&) = delete;
  Appended& operator=(const Appended&) = delete;

  // slot: the token's slot on the device, for histories that need one.
  template <typename... Slot>
  void add(OwnHistory& history, Slot... slot) {
    places_.emplace_back(&history, history.length());
    history.append(slot...);
  }
  void keep() noexcept { places_.clear(); }

 private:
  std::vector<std::pair<OwnHistory*, std::size_t>> places_;
};

}  // namespace verbatim::transformer
