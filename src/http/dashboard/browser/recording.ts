/** A button that records with the microphone until it is pressed again. */
export interface RecordingEvents {
  begun: (stream: MediaStream) => void;
  done: (recording: Blob) => void;
  /**
   * The browser's own message; null: it refuses the microphone to a page that came neither over HTTPS nor from
   * its own machine.
   */
  failed: (message: string | null) => void;
}

export function recordOnPress(button: HTMLButtonElement, events: RecordingEvents): void {
  const text = button.querySelector('span') ?? button;
  const label = text.textContent;
  let recorder: MediaRecorder | null = null;
  let isAsking = false;

  function show(isRecording: boolean): void {
    text.textContent = isRecording ? (button.dataset['stop'] ?? '') : label;
  }

  async function begin(): Promise<void> {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    const pieces: Blob[] = [];
    const made = new MediaRecorder(stream);
    made.addEventListener('dataavailable', ({ data }) => void pieces.push(data));
    made.addEventListener('stop', () => {
      for (const track of stream.getTracks()) track.stop();
      recorder = null;
      show(false);
      events.done(new Blob(pieces, { type: made.mimeType }));
    });
    made.start();
    recorder = made;
    show(true);
    events.begun(stream);
  }

  function begun(): void {
    isAsking = true;
    begin()
      .catch((error: unknown) => events.failed(error instanceof Error ? error.message : String(error)))
      .finally(() => (isAsking = false));
  }

  button.addEventListener('click', () => {
    if (recorder !== null) recorder.stop();
    else if (!isSecureContext) events.failed(null);
    else if (!isAsking) begun();
  });
}
