import type { SessionEvent } from './events.js';

export interface ReceivedAudioListener {
  /** So much audio was worked on. */
  received(seconds: number): void;
  /** So much of it belongs to utterances. */
  spoke(seconds: number): void;
}

/** Counts a session's audio by its events. */
export class ReceivedAudio {
  #seconds = 0;
  /** Of the running utterance, what lies before is counted; null: there is none. */
  #spokenTo: number | null = null;

  constructor(private readonly listener: ReceivedAudioListener) {}

  happened(event: SessionEvent): void {
    if (event.type === 'speech_started') this.#spokenTo = event.atSeconds;
    else if (event.type === 'speech_stopped') {
      this.#spokeTo(event.atSeconds);
      this.#spokenTo = null;
    } else if (event.type === 'progress') {
      this.listener.received(event.seconds - this.#seconds);
      this.#seconds = event.seconds;
      this.#spokeTo(event.seconds);
    }
  }

  #spokeTo(seconds: number): void {
    if (this.#spokenTo === null || seconds <= this.#spokenTo) return;
    this.listener.spoke(seconds - this.#spokenTo);
    this.#spokenTo = seconds;
  }
}
