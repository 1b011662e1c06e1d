/**
 * A live session whose audio is in a container: a confined ffmpeg decodes it while it arrives. The session works on,
 * and charges, what was decoded.
 */
import { LIVE_CONTAINER_NAMES, LIVE_HEAD_BYTES, liveContainerOf, OGG } from '../engine/media/live-containers.js';
import { MATROSKA, type Container } from '../engine/media/containers.js';
import { ConversionKilled } from '../engine/media/failures.js';
import type { LiveDecoder } from '../engine/media/live-decoder.js';
import { OggOpusWriter } from '../engine/media/ogg-opus.js';
import { EngineError } from '../engine/native-errors.js';
import { VerbatimError } from '../errors.js';
import { requestError } from '../transcription/request-errors.js';
import type { SessionEnd } from './events.js';
import type { InputMemory } from './input-memory.js';
import type { EncodedFormat } from './options.js';
import type { LiveSession } from './session.js';

const RETRY_SECONDS = 10;

export interface DecodedSessionParts {
  session: LiveSession;
  format: EncodedFormat;
  memory: InputMemory;
  /** Starts ffmpeg. */
  openDecoder: (container: Container, onSamples: (samples: Buffer) => Promise<void>) => LiveDecoder;
}

export class DecodedSession {
  /** `refused` with `invalid_audio` or `unsupported_audio_format` where the stream cannot be decoded. */
  readonly ended: Promise<SessionEnd>;
  #head: Buffer = Buffer.alloc(0);
  #decoder: LiveDecoder | null = null;
  #packets: OggOpusWriter | null = null;
  #failure: VerbatimError | null = null;
  /** No more input is taken. */
  #isOver = false;

  constructor(private readonly parts: DecodedSessionParts) {
    this.ended = parts.session.ended.then(async (end) => {
      this.#isOver = true;
      this.#decoder?.close();
      await this.#decoder?.ended;
      return end.how === 'finished' && this.#failure !== null ? { how: 'refused', error: this.#failure } : end;
    });
  }

  /** Of decoded audio. */
  get receivedSeconds(): number {
    return this.parts.session.receivedSeconds;
  }

  /** Takes bytes. Resolves when there is room for more. */
  async append(bytes: Buffer): Promise<void> {
    if (this.#isOver || bytes.length === 0) return;
    const { memory } = this.parts;
    memory.take(bytes.length);
    try {
      await memory.whenRoom();
      await this.#take(bytes);
    } finally {
      memory.release(bytes.length);
    }
  }

  /** Ends the running utterance with the audio received so far. */
  async endUtterance(): Promise<void> {
    await this.#decoder?.settled();
    this.parts.session.endUtterance();
  }

  /** No more input comes. */
  finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#decoder === null && this.#head.length > 0) {
      const decoder = this.#begin(this.#head);
      void decoder?.write(this.#head).then(() => decoder.end());
    } else if (this.#decoder === null) this.parts.session.finish();
    else this.#decoder.end();
  }

  leave(): void {
    this.#isOver = true;
    this.#decoder?.close();
    this.parts.session.leave();
  }

  async #take(bytes: Buffer): Promise<void> {
    if (this.#packets !== null) await this.#takePacket(this.#packets, bytes);
    else if (this.#decoder !== null) await this.#decoder.write(bytes);
    else if (this.#arePackets(bytes)) {
      const packets = new OggOpusWriter();
      this.#packets = packets;
      this.#decoder = this.#open(OGG);
      await this.#decoder.write(packets.head({ sampleRate: this.parts.format.sampleRate, channels: 1 }));
      await this.#takePacket(packets, bytes);
    } else {
      this.#head = Buffer.concat([this.#head, bytes]);
      if (this.#head.length >= LIVE_HEAD_BYTES) await this.#begin(this.#head)?.write(this.#head);
    }
  }

  /** Each message is one, unless the first shows a container that may have Opus in it. */
  #arePackets(first: Buffer): boolean {
    if (this.parts.format.encoding !== 'opus' || this.#head.length > 0) return false;
    const container = liveContainerOf(first);
    return container !== OGG && container !== MATROSKA;
  }

  async #takePacket(packets: OggOpusWriter, packet: Buffer): Promise<void> {
    const page = packets.page(packet);
    if (page === null) this.#fail(new EngineError('invalid_audio', 'a message is no Opus packet'));
    else await this.#decoder?.write(page);
  }

  #begin(head: Buffer): LiveDecoder | null {
    const container = liveContainerOf(head);
    if (container === null) {
      this.#fail(new EngineError('unsupported_audio_format', `the stream is not ${LIVE_CONTAINER_NAMES}`));
      return null;
    }
    this.#decoder = this.#open(container);
    return this.#decoder;
  }

  #open(container: Container): LiveDecoder {
    const { session, openDecoder } = this.parts;
    const decoder = openDecoder(container, (samples) => session.append(samples));
    void decoder.ended.then((failure) => {
      if (failure !== null) this.#note(failure);
      this.#end();
    });
    return decoder;
  }

  #note(failure: Error): void {
    this.#failure ??= failure instanceof ConversionKilled ? killed(failure) : requestError(failure);
  }

  /** The results of what came before are still reported. */
  #fail(failure: Error): void {
    this.#note(failure);
    this.#isOver = true;
    if (this.#decoder === null) this.#end();
    else this.#decoder.end();
  }

  #end(): void {
    this.#isOver = true;
    this.#head = Buffer.alloc(0);
    this.parts.session.finish();
  }
}

function killed(cause: ConversionKilled): VerbatimError {
  const message = 'The program that decodes the stream was killed, as happens where memory is short. Try again later.';
  return new VerbatimError('overloaded', message, { retryAfterSeconds: RETRY_SECONDS, cause });
}
