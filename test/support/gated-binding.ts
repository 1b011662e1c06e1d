/** The addon, of which windows wait at a gate before a slot computes them. */
import {
  loadBinding,
  type AudioReader,
  type NativeBinding,
  type Slot,
  type SpeechModel,
} from '../../src/engine/binding.js';
import { overriding } from './overriding.js';

export class GatedBinding {
  readonly binding: NativeBinding;
  /** Of every window that came to the gate. */
  readonly signals: AbortSignal[] = [];
  waiting = 0;
  /** Of which a window has been cut. */
  readonly files = new Set<string>();
  private allowed = Infinity;
  private readonly waiters: (() => void)[] = [];

  constructor() {
    const native = loadBinding();
    this.binding = overriding(native, {
      loadSpeechModel: async (...args: Parameters<NativeBinding['loadSpeechModel']>) =>
        this.model(await native.loadSpeechModel(...args)),
      openAudio: async (...args: Parameters<NativeBinding['openAudio']>) =>
        this.reader(args[0], await native.openAudio(...args)),
    });
  }

  /** So many windows more, then none. */
  allow(windows: number): void {
    this.allowed = windows;
    while (this.allowed > 0 && this.waiters.length > 0) {
      this.allowed--;
      this.waiters.shift()?.();
    }
  }

  open(): void {
    this.allow(Infinity);
  }

  private reader(path: string, reader: AudioReader): AudioReader {
    return overriding(reader, {
      nextWindow: async (...args: Parameters<AudioReader['nextWindow']>) => {
        const window = await reader.nextWindow(...args);
        if (window !== null) this.files.add(path);
        return window;
      },
    });
  }

  private model(model: SpeechModel): SpeechModel {
    const createSlot: SpeechModel['createSlot'] = async (options) => this.slot(await model.createSlot(options));
    return overriding(model, { createSlot });
  }

  private slot(slot: Slot): Slot {
    return overriding(slot, {
      transcribe: async (window, options, call = {}) => {
        if (call.signal !== undefined) this.signals.push(call.signal);
        await this.pass();
        return slot.transcribe(window, options, call);
      },
    });
  }

  private async pass(): Promise<void> {
    if (this.allowed > 0) {
      this.allowed--;
      return;
    }
    this.waiting++;
    await new Promise<void>((resolve) => this.waiters.push(resolve));
    this.waiting--;
  }
}
