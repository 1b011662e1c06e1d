/** Sends a form and tells how much of it has left; fetch() does not. Rejects with the server's own message. */
export function send<T>(url: string, data: FormData, onProgress: (percent: number) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', url);
    request.responseType = 'json';
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      onProgress(Math.floor((100 * loaded) / Math.max(1, total)));
    });
    request.addEventListener('error', () => reject(new Error('')));
    request.addEventListener('load', () => {
      const body = request.response as { error?: { message?: string } } | null;
      if (request.status === 200 && body !== null) resolve(body as T);
      else reject(new Error(body?.error?.message ?? ''));
    });
    request.send(data);
  });
}
