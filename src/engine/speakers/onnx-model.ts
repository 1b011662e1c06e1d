import { readFile, stat } from 'node:fs/promises';
import type * as Runtime from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { EngineError } from '../native-errors.js';
import { onnxFacts } from './onnx-facts.js';

/** Larger ones are no speaker models. */
const MOST_BYTES = 512 * 2 ** 20;

export interface OnnxModel {
  facts: ReadonlyMap<string, string>;
  /** Of its inputs, by name. */
  shapes: ReadonlyMap<string, readonly (number | string)[]>;
  /**
   * Inputs by name -> one of the outputs, by its place. Rejects with EngineError `invalid_model` where the model cannot
   * compute it, or gives anything but numbers.
   */
  run(inputs: Readonly<Record<string, TensorData>>, output?: number): Promise<TensorData & { data: Float32Array }>;
}

export interface TensorData {
  data: Float32Array | BigInt64Array;
  dims: readonly number[];
}

/** Loads and runs hostile files in native code: only in a process whose death costs nothing. */
export async function loadOnnxModel(path: string, threads: number): Promise<OnnxModel> {
  const bytes = await modelBytes(path);
  const facts = onnxFacts(bytes);
  const runtime = await loadRuntime();
  const session = await ofModel(() => runtime.InferenceSession.create(bytes, sessionOptions(threads)));
  return {
    facts,
    shapes: shapesOf(session),
    run: (inputs, output = 0) => ofModel(() => run(runtime, session, inputs, output)),
  };
}

function sessionOptions(threads: number): InferenceSession.SessionOptions {
  return {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    // Inputs differ in length: an arena would keep memory for each length.
    enableCpuMemArena: false,
    enableMemPattern: false,
    logSeverityLevel: 4,
  };
}

async function modelBytes(path: string): Promise<Uint8Array> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw new EngineError('io_error', (error as Error).message, { cause: error });
  });
  if (size > MOST_BYTES)
    throw new EngineError('invalid_model', `The model has ${size} bytes; allowed: ${MOST_BYTES} at most.`);
  return readFile(path);
}

async function loadRuntime(): Promise<typeof Runtime> {
  // Else the runtime reports its use to Microsoft: it connects there, and keeps files in the home and the temporary
  // directory.
  // eslint-disable-next-line no-restricted-properties -- it is written, not read
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
  try {
    return await import('onnxruntime-node');
  } catch (error) {
    const advice = 'The package onnxruntime-node is not installed. Run: npm install --include=optional';
    throw new EngineError('invalid_model', advice, { cause: error });
  }
}

async function run(
  { Tensor }: typeof Runtime,
  session: InferenceSession,
  inputs: Readonly<Record<string, TensorData>>,
  place: number,
): Promise<TensorData & { data: Float32Array }> {
  const feeds = Object.fromEntries(
    Object.entries(inputs).map(([name, { data, dims }]): [string, Tensor] => [
      name,
      data instanceof Float32Array ? new Tensor('float32', data, dims) : new Tensor('int64', data, dims),
    ]),
  );
  const name = session.outputNames.at(place) ?? '';
  const output = (await session.run(feeds, [name]))[name];
  if (output === undefined || !(output.data instanceof Float32Array))
    throw new EngineError('invalid_model', `Output ${place} of the model holds no float32 numbers.`);
  return { data: output.data, dims: output.dims };
}

function shapesOf(session: InferenceSession): Map<string, readonly (number | string)[]> {
  return new Map(session.inputMetadata.map((input) => [input.name, input.isTensor ? input.shape : []] as const));
}

/** The runtime's own errors say nothing but what is wrong with the model. */
async function ofModel<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError('invalid_model', `The model does not run: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
