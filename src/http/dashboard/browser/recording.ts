/** A button that records with the microphone until it is pressed again. */
export interface RecordingEvents {
  begun: () => void;
  done: (recording: Blob) => void;
  failed: (message: string) => void;
}

export function recordOnPress(button: HTMLButtonElement, events: RecordingEvents): void {
  const label = button.textContent;
  let recorder: MediaRecorder | null = null;

  function show(isRecording: boolean): void {
    button.textContent = isRecording ? (button.dataset['stop'] ?? '') : label;
    button.setAttribute('aria-pressed', String(isRecording));
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
    events.begun();
  }

  button.addEventListener('click', () => {
    if (recorder !== null) recorder.stop();
    else
      begin().catch((error: unknown) =>
        events.failed(error instanceof Error ? error.message : String(error)),
      );
  });
}
