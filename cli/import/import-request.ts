import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { adminRequest } from '@lapel/client/admin-request';
import { LapelError } from '@lapel/client/lapel-error';
import type { Administration } from '../account/access.ts';

/** The answer of the service to one line. */
export interface LineAnswer {
  deviceId?: string;
  error?: { message?: string; reason?: string; details?: { loc: string[]; msg: string; type: string }[] };
}

const NDJSON = 'application/x-ndjson';
const SILENCE_MILLISECONDS = 120_000;

/**
 * One request of an import, which sends lines and receives their answers, in the same order, at the same time. `send`
 * resolves when the connection takes more. `answers` ends with the request; it throws a LapelError when the service
 * refuses the whole request, and the network's error when the connection breaks.
 */
export function openImportRequest({ baseUrl, headers: own }: Administration, developerId: string) {
  const { method, path } = adminRequest('importDevices', { developerId });
  const url = new URL(baseUrl + path);
  const headers = { ...own, 'content-type': NDJSON, accept: NDJSON };
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    method,
    headers,
    agent: false,
  });
  request.setNoDelay(true);
  request.setTimeout(SILENCE_MILLISECONDS, () => request.destroy(new Error('the service has not answered for 120 s')));
  const response = once(request, 'response').then(([answer]) => answer as IncomingMessage);
  response.catch(() => undefined);
  request.on('error', () => undefined); // `answers` throws this error

  async function* answers(): AsyncGenerator<LineAnswer> {
    const answer = await response;
    if (answer.statusCode !== 200) {
      const said = await text(answer);
      throw new LapelError(`${method} ${path}`, {
        status: answer.statusCode ?? 0,
        body: parse(said),
        code: headerOf(answer, 'lapel-error-code'),
        requestId: headerOf(answer, 'x-request-id'),
      });
    }
    const broken = once(answer, 'close').then(() => {
      if (!answer.complete) throw new Error('the connection broke');
    });
    broken.catch(() => undefined);
    const lines = createInterface({ input: answer });
    answer.on('error', () => lines.close());
    lines.on('error', () => undefined); // `broken` reports this error
    for await (const line of lines) {
      const parsed = parse(line);
      // A broken connection may leave an incomplete last line.
      if (parsed !== undefined) yield parsed as LineAnswer;
    }
    await broken;
  }

  return {
    async send(content: string): Promise<void> {
      if (request.destroyed || request.write(content)) return;
      await Promise.race([once(request, 'drain'), once(request, 'close')]).catch(() => undefined);
    },
    end: () => void request.end(),
    answers,
    [Symbol.dispose]: () => void request.destroy(),
  };
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content) as unknown;
  } catch {
    return undefined;
  }
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}
