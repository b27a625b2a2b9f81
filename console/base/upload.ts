/**
 * Puts a file to where the service says, straight to the object store; tells how far it is, from 0 to 1. Not `fetch`, which
 * cannot tell of what it sends. Rejects when the store refuses it or cannot be reached.
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
  request.onabort = () => reject(new DOMException('The upload was given up.', 'AbortError'));
  signal.addEventListener('abort', () => request.abort(), { once: true });
  request.send(file);
  return promise;
}
