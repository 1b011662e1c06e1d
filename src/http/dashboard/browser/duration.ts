/** Reports the duration that the browser finds, in seconds. null: it does not know it, or cannot play the audio. */
export function onDuration(audio: HTMLAudioElement, known: (seconds: number | null) => void): void {
  let isSought = false;
  const report = (): void => {
    if (Number.isFinite(audio.duration)) {
      if (isSought) audio.currentTime = 0;
      isSought = false;
      known(audio.duration);
    } else if (!isSought) {
      // A recording that was just made has no length in its head; the browser learns it by going to the end.
      isSought = true;
      audio.currentTime = Number.MAX_SAFE_INTEGER;
    }
  };
  audio.addEventListener('durationchange', () => {
    if (audio.readyState >= HTMLMediaElement.HAVE_METADATA) report();
  });
  audio.addEventListener('emptied', () => {
    isSought = false;
    known(null);
  });
}
