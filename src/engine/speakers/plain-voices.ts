/** The voices of a stretch on their way between two processes. */
import { EngineError } from '../native-errors.js';
import type { PlainVoicePiece } from './speaker-calls.js';
import type { VoicePiece } from './stretch-voices.js';

export function toPlainPiece({ voice, ...piece }: VoicePiece): PlainVoicePiece {
  if (voice === null) return { ...piece, voice };
  const { buffer, byteOffset, byteLength } = voice.vector;
  const vector = Buffer.from(buffer, byteOffset, byteLength).toString('base64');
  return { ...piece, voice: { ...voice, vector } };
}

/**
 * Of a stretch of so many seconds. The process has read audio of anybody's: throws EngineError `internal_error` for
 * pieces that cannot be.
 */
export function fromPlainPieces(value: unknown, seconds: number): VoicePiece[] {
  if (!Array.isArray(value)) throw impossible();
  let last = 0;
  return value.map((piece: unknown) => {
    if (!isPiece(piece) || piece.startSeconds < last || piece.endSeconds > seconds + TOLERANCE) throw impossible();
    last = piece.startSeconds;
    const { voice } = piece;
    return { ...piece, voice: voice === null ? null : { ...voice, vector: toVector(voice.vector) } };
  });
}

/** Seconds. */
const TOLERANCE = 0.1;
const MOST_NUMBERS = 4096;

function isPiece(value: unknown): value is PlainVoicePiece {
  if (typeof value !== 'object' || value === null) return false;
  const { startSeconds, endSeconds, local, voice } = value as Record<keyof PlainVoicePiece, unknown>;
  if (typeof startSeconds !== 'number' || typeof endSeconds !== 'number' || !Number.isInteger(local)) return false;
  return endSeconds > startSeconds && (voice === null || isVoice(voice));
}

function isVoice(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { vector, seconds, isReliable } = value as Record<string, unknown>;
  return typeof vector === 'string' && typeof seconds === 'number' && seconds > 0 && typeof isReliable === 'boolean';
}

function toVector(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0 || bytes.length > 4 * MOST_NUMBERS) throw impossible();
  const vector = new Float32Array(new Uint8Array(bytes).buffer);
  if (!vector.every(Number.isFinite)) throw impossible();
  return vector;
}

function impossible(): EngineError {
  return new EngineError('internal_error', 'The speaker process reported voices that cannot be.');
}
