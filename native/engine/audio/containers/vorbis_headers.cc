#include "audio/containers/vorbis_headers.h"

#include "audio/decoding/bytes.h"

namespace verbatim {
namespace {

// Whether the packet is an identification header that libvorbis accepts.
bool is_identification(std::span<const std::uint8_t> packet) {
  constexpr std::size_t kBytes = 30;
  if (packet.size() < kBytes || le32(packet.subspan(7)) != 0) return false;
  const bool has_channels = packet[11] != 0;
  const auto rate = static_cast<std::int32_t>(le32(packet.subspan(12)));
  const int short_block = packet[28] & 0x0F;
  const int long_block = packet[28] >> 4;
  const bool framed = (packet[29] & 1) != 0;
  return has_channels && rate > 0 && short_block >= 6 && long_block >= short_block && long_block <= 13 && framed;
}

}  // namespace

void VorbisHeaders::begin(const OggPage& page, std::span<const std::uint8_t> packet) {
  broken_ = page.packets != 1 || page.leaves_packet_open || !is_identification(packet);
  packets_ = broken_ ? 0 : 1;
  next_number_ = page.number + 1;
}

void VorbisHeaders::add(const OggPage& page) {
  if (broken_ || whole()) return;
  broken_ = page.number != next_number_ || page.continues_packet != open_;
  if (broken_) return;
  packets_ += page.packets;
  next_number_ = page.number + 1;
  open_ = page.leaves_packet_open;
}

}  // namespace verbatim
