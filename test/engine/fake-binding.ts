/** The addon without audio or model, in virtual time: every native call takes as long as the test says. */
import type {
  AudioOptions,
  AudioReader,
  AudioWindow,
  DeviceInfo,
  NativeBinding,
  Recogniser,
  RecogniserOptions,
  SpeechModel,
  SpeechModelInfo,
  SpeechModelOptions,
  TranslationModel,
  VoiceActivityModel,
  WindowPolicy,
} from '../../src/engine/binding.js';
import { CONTRACT } from '../../src/engine/binding/contract.js';
import { FakeAudioWindow, FakeReader, type FakeFile } from './fake-audio.js';
import { FakeRecogniser } from './fake-recogniser.js';
import { FakeSlot } from './fake-slot.js';
import { FakeTally } from './fake-tally.js';
import { nativeError, refuseCall } from './native-error.js';

export class FakeBinding extends FakeTally implements NativeBinding {
  readonly build: NativeBinding['build'] = {
    ...{ whisper: 'fake', cuda: true, vulkan: true, translationBackends: [], compiler: 'fake', contract: CONTRACT },
  };
  createSlotError: Error | null = null;
  slotsMade = 0;
  /** Of every speech model, as it was loaded. */
  readonly loadOptions: (RecogniserOptions | SpeechModelOptions)[] = [];
  private readonly files = new Map<string, FakeFile>();

  addFile(path: string, file: FakeFile): string {
    this.files.set(path, file);
    return path;
  }

  devices(): DeviceInfo[] {
    const type = (id: string): DeviceInfo['type'] => (id === 'cpu' ? 'processor' : 'discrete');
    return this.settings.devices.map((id) => ({ id, type: type(id), name: `Fake ${id}`, memoryBytes: 1 }));
  }

  async openAudio(path: string, _policy: WindowPolicy, { voice }: AudioOptions = {}): Promise<AudioReader> {
    const file = this.files.get(path);
    if (file === undefined) throw nativeError('io_error');
    if (file.openError !== undefined) throw nativeError(file.openError, 'not what it should be');
    await this.audioCall(this.settings.measureMs);
    this.openReaders++;
    return new FakeReader(this, path, file, voice !== undefined);
  }

  /** Its path in the tally says where it begins. */
  createWindow(samples: Float32Array, startSample = 0): AudioWindow {
    if (samples.length === 0 || samples.length > 30 * 16_000) throw nativeError('invalid_argument');
    const startSeconds = startSample / 16_000;
    const endSeconds = startSeconds + samples.length / 16_000;
    return new FakeAudioWindow(this, `live ${startSample}`, 0, { startSeconds, endSeconds });
  }

  async loadVoiceActivityModel(path: string): Promise<VoiceActivityModel> {
    await Promise.resolve();
    if (!path.endsWith('.bin')) throw nativeError('invalid_model');
    this.openModels++;
    let closed = false;
    return {
      close: () => {
        if (!closed) this.openModels--;
        closed = true;
      },
    };
  }

  async loadSpeechModel(_path: string, options: SpeechModelOptions): Promise<SpeechModel> {
    const { device } = options;
    this.loadOptions.push(options);
    const info = await this.find(device);
    this.openModels++;
    let closed = false;
    return {
      info,
      createSlot: async () => {
        await Promise.resolve();
        refuseCall({ closed });
        if (this.createSlotError !== null) throw this.createSlotError;
        return new FakeSlot(this, `${device}/${++this.slotsMade}`);
      },
      close: () => {
        if (!closed) this.openModels--;
        closed = true;
      },
    };
  }

  async loadRecogniser(_path: string, options: RecogniserOptions): Promise<Recogniser> {
    this.loadOptions.push(options);
    return new FakeRecogniser(this, await this.find(options.device));
  }

  private async find(device: string): Promise<SpeechModelInfo> {
    await Promise.resolve();
    if (!this.settings.devices.includes(device)) throw nativeError('device_unavailable');
    return {
      type: 'custom',
      weightType: 'q5_1',
      family: 'whisper',
      abilities: this.settings.abilities,
      languages: this.settings.languages,
      device,
      deviceName: `Fake ${device}`,
      memoryBytes: 1,
      accelerator: '',
      weightCache: null,
    };
  }

  loadTranslationModel(): Promise<TranslationModel> {
    return Promise.reject(nativeError('invalid_model'));
  }
}
