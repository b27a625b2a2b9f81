/**
 * Uploads a file directly to the object store, at a URL from the service, and calls `told` with the progress from 0 to
 * 1. It does not use `fetch`, which cannot report the progress of an upload. Rejects when the store refuses the file or
 * cannot be reached.
 */
export function upload(url: string, file: Blob, told: (share: number) => void, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const request = new XMLHttpRequest();
  request.open('PUT', url);
  request.upload.onprogress = ({ loaded, total }) => told(total === 0 ? 0 : loaded / total);
  request.onload = () =>
    request.status >= 200 && request.status < 300
      ? resolve()
      : reject(new Error(`The object store answered ${request.status}.`));
  request.onerror = () => reject(new TypeError('The object store cannot be reached from this browser.'));
  request.onabort = () => reject(new DOMException('The upload was cancelled.', 'AbortError'));
  signal.addEventListener('abort', () => request.abort(), { once: true });
  request.send(file);
  return promise;
}
