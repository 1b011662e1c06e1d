/** How loud the microphone is, and for how long it has been recording. */
import { clockText, write } from './page-parts.js';

/** Shows both until the function that it returns is called. */
export function showLevel(stream: MediaStream, meter: HTMLMeterElement, timer: HTMLElement): () => void {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const begun = performance.now();
  let isOver = false;
  const draw = (): void => {
    if (isOver) return;
    analyser.getFloatTimeDomainData(samples);
    // Of speech close to the microphone the root mean square is about 0.1.
    const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
    meter.value = Math.min(1, Math.sqrt(power) * 5);
    write(timer, clockText((performance.now() - begun) / 1000));
    requestAnimationFrame(draw);
  };
  draw();
  return () => {
    isOver = true;
    void context.close();
  };
}
