#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace verbatim::transformer {

// Takes back what a step appended to histories, the last first, unless it is kept. OwnHistory: a decoder's
// own, with length(), append(...) and truncate(length).
template <typename OwnHistory>
class Appended {
 public:
  Appended() = default;
  ~Appended() {
    for (auto place = places_.rbegin(); place != places_.rend(); ++place)
      place->first->truncate(place->second);
  }
  Appended(const Appended&) = delete;
  Appended& operator=(const Appended&) = delete;

  // slot: where the device keeps it, for those that say so.
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
