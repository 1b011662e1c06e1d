/** Formats a download size in megabytes of 10^6 bytes, such as "82 MB". */
export function megabytes(bytes: number): string {
  return `${bytes >= 10e6 || bytes === 0 ? Math.round(bytes / 1e6) : (bytes / 1e6).toFixed(1)} MB`;
}
