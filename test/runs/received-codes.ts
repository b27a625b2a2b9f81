// The suite's record of the error codes that the clients of its tests have received.
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';

/** The environment variable that names the file of the record, a line for each code; without it there is no record. */
export const RECORD = 'RECEIVED_ERROR_CODES';

const noted = new Set<string>();

/** Records a code that a client has received. */
export function noteCode(code: string): void {
  const file = process.env[RECORD];
  if (file === undefined || noted.has(code)) return;
  noted.add(code);
  appendFileSync(file, `${code}\n`);
}

interface Headers {
  response: { statusCode: number; headers: readonly Buffer[] };
}

/** Records the codes of all answers that this process receives, whatever client asks: undici, or the fetch of Node. */
export function noteAnswers(): void {
  subscribe('undici:request:headers', (message) => {
    const { statusCode, headers } = (message as Headers).response;
    if (statusCode < 400) return;
    for (let at = 0; at < headers.length; at += 2)
      if (String(headers[at]).toLowerCase() === 'lapel-error-code') noteCode(String(headers[at + 1]));
  });
}
