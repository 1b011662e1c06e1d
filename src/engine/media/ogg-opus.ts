/**
 * Opus packets without a container, put into an Ogg stream: a page for each (RFC 3533, section 6), behind the two
 * headers of RFC 7845, section 5. A packet's first byte says its length in time (RFC 6716, section 3.1).
 */

/** Opus counts time at this rate, whatever the rate of the samples. */
const CLOCK_RATE = 48_000;
/** A page has at most 255 segments of 255 bytes, and the last segment of a packet is shorter. */
export const MOST_PACKET_BYTES = 255 * 255 - 1;
const SERIAL = 1;
const FIRST_PAGE = 2;
const HEADER_BYTES = 27;
/** Milliseconds of a frame, by the upper five bits of a packet's first byte. */
const FRAME_MS = [
  ...[10, 20, 40, 60, 10, 20, 40, 60, 10, 20, 40, 60],
  ...[10, 20, 10, 20],
  ...[2.5, 5, 10, 20, 2.5, 5, 10, 20, 2.5, 5, 10, 20, 2.5, 5, 10, 20],
];
const MOST_PACKET_MS = 120;

export class OggOpusWriter {
  #pages = 0;
  #position = 0;

  /** What stands before the first packet. `sampleRate`: of the source, for information. */
  head({ sampleRate, channels }: { sampleRate: number; channels: number }): Buffer {
    const head = Buffer.alloc(19);
    head.write('OpusHead');
    head.writeUInt8(1, 8);
    head.writeUInt8(channels, 9);
    head.writeUInt32LE(sampleRate, 12);
    const tags = Buffer.alloc(16);
    tags.write('OpusTags');
    return Buffer.concat([this.#page(head, FIRST_PAGE), this.#page(tags)]);
  }

  /** null: this is no Opus packet. */
  page(packet: Buffer): Buffer | null {
    const milliseconds = packetMs(packet);
    if (milliseconds === null || packet.length > MOST_PACKET_BYTES) return null;
    this.#position += (milliseconds * CLOCK_RATE) / 1000;
    return this.#page(packet);
  }

  #page(packet: Buffer, type = 0): Buffer {
    const full = Math.floor(packet.length / 255);
    const page = Buffer.alloc(HEADER_BYTES + full + 1 + packet.length, 255);
    page.write('OggS');
    page.writeUInt8(0, 4);
    page.writeUInt8(type, 5);
    page.writeBigUInt64LE(BigInt(this.#position), 6);
    page.writeUInt32LE(SERIAL, 14);
    page.writeUInt32LE(this.#pages++, 18);
    page.writeUInt32LE(0, 22);
    page.writeUInt8(full + 1, 26);
    page.writeUInt8(packet.length % 255, HEADER_BYTES + full);
    packet.copy(page, HEADER_BYTES + full + 1);
    page.writeUInt32LE(checksum(page), 22);
    return page;
  }
}

function packetMs(packet: Buffer): number | null {
  const [first = 0, second = 0] = packet;
  const code = first & 3;
  if (packet.length === 0 || (code === 3 && packet.length < 2)) return null;
  const frames = code === 0 ? 1 : code === 3 ? second & 63 : 2;
  const milliseconds = frames * (FRAME_MS[first >> 3] ?? 0);
  return milliseconds > 0 && milliseconds <= MOST_PACKET_MS ? milliseconds : null;
}

/** Polynomial 0x04c11db7, first bit first, from 0. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit++) value = value & 0x80000000 ? (value << 1) ^ 0x04c11db7 : value << 1;
  return value >>> 0;
});

function checksum(bytes: Buffer): number {
  let value = 0;
  for (const byte of bytes) value = ((value << 8) ^ (TABLE[(value >>> 24) ^ byte] ?? 0)) >>> 0;
  return value;
}
