/** "82 MB", of 10^6 bytes, as downloads are sized. */
export function megabytes(bytes: number): string {
  return `${bytes >= 10e6 || bytes === 0 ? Math.round(bytes / 1e6) : (bytes / 1e6).toFixed(1)} MB`;
}
