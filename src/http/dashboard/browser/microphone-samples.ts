/** An audio worklet: passes the microphone's samples on as integers of 16 bits, a tenth of a second at a time. */

declare const sampleRate: number;
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

class MicrophoneSamples extends AudioWorkletProcessor {
  #samples = new Int16Array(Math.ceil(sampleRate / 10));
  #count = 0;

  process(inputs: Float32Array[][]): boolean {
    for (const sample of inputs[0]?.[0] ?? []) {
      this.#samples[this.#count++] = Math.max(-1, Math.min(1, sample)) * 32_767;
      if (this.#count < this.#samples.length) continue;
      this.port.postMessage(this.#samples.buffer, [this.#samples.buffer]);
      this.#samples = new Int16Array(Math.ceil(sampleRate / 10));
      this.#count = 0;
    }
    return true;
  }
}

registerProcessor('microphone-samples', MicrophoneSamples);

export {};
