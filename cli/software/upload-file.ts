import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Interrupted } from '../line/interrupted.ts';
import { Failure } from '../show/failure.ts';
import { byteSize, transfer } from '../show/progress.ts';
import type { Screen, Terminal } from '../show/terminal.ts';
import type { LocalFile } from './local-file.ts';

const APK = 'application/vnd.android.package-archive';
// Milliseconds. Stores without support for 100-continue do not answer it, so after this time the body is sent anyway
// (RFC 9110 10.1.1).
const CONTINUE_MILLISECONDS = 1000;
const SILENCE_MILLISECONDS = 60_000;
const REDRAW_MILLISECONDS = 100;
/** Codes of errors of the network, which may pass; those of the file do not. */
const OF_NETWORK = /^(?:ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENET)/;

/** Makes a Failure of the XML error of an S3 object store. */
async function refused(response: IncomingMessage): Promise<Failure> {
  const body = await text(response).catch(() => '');
  const element = (name: string): string => body.split(`<${name}>`, 2)[1]?.split('<', 1)[0] ?? '';
  const words = [element('Code'), element('Message')].filter((word) => word !== '').join(': ');
  const status = response.statusCode ?? 0;
  return new Failure(`cannot upload the file: the object store says ${status} ${words}`.trimEnd(), {
    passing: status >= 500,
    refusal: { status, code: element('Code') || null, reason: words, details: [], requestId: null },
    advice: [
      status < 500
        ? 'the URL was made for this upload only; run the command again to get a new one'
        : 'the log of the service (or of its object store) has details; run the command again later',
    ],
  });
}

async function send(request: ClientRequest, file: LocalFile, meter: Transform): Promise<void> {
  const source = file.handle.createReadStream({ start: 0, end: Math.max(0, file.size - 1), autoClose: false });
  if (file.size === 0) request.end();
  else await pipeline(source, meter, request);
}

/**
 * Streams a file to a presigned URL (the PUT of op 22) and shows the progress. The URL is never shown. The store may
 * refuse before anything is sent. Throws a Failure.
 */
export async function uploadFile(
  file: LocalFile,
  { url, screen, terminal: { now, pause, interrupted } }: { url: string; screen: Screen; terminal: Terminal },
): Promise<void> {
  const { protocol, origin } = new URL(url);
  const began = now();
  let sent = 0;
  let drawn = Number.NEGATIVE_INFINITY;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent += chunk.length;
      if (now() - drawn >= REDRAW_MILLISECONDS) {
        drawn = now();
        screen.show([`uploading  ${transfer(sent, file.size, drawn - began)}`]);
      }
      done(null, chunk);
    },
    flush(done) {
      done(sent === file.size ? null : new Failure(`cannot upload ${file.name}: the file changed while it was read`));
    },
  });
  if (!screen.live) screen.line(`uploading ${byteSize(file.size)} to ${origin}`);

  const headers = { 'content-length': file.size, 'content-type': APK, expect: '100-continue' };
  const request = (protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    method: 'PUT',
    headers,
    agent: false,
    signal: interrupted,
  });
  request.setNoDelay(true);
  request.setTimeout(SILENCE_MILLISECONDS, () =>
    request.destroy(Object.assign(new Error('the object store has not answered for 60 s'), { code: 'ETIMEDOUT' })),
  );
  request.flushHeaders();
  const answered = once(request, 'response').then(([response]) => response as IncomingMessage);
  const waiting = new AbortController();
  const goAhead = Promise.race([once(request, 'continue'), pause(CONTINUE_MILLISECONDS, waiting.signal)]);
  try {
    const early = await Promise.race([answered, goAhead.then(() => null)]);
    if (!early) await Promise.race([send(request, file, meter), answered]);
    const response = early ?? (await answered);
    if (response.statusCode !== 200) throw await refused(response);
    response.resume();
  } catch (error) {
    if (interrupted.aborted) throw new Interrupted('Nothing was uploaded: run the command again.');
    if (error instanceof Failure) throw error;
    const advice = ['run the command again to start the upload again'];
    const message = `cannot upload the file to ${origin}: ${(error as Error).message}`;
    throw new Failure(message, {
      cause: error,
      advice,
      passing: OF_NETWORK.test((error as NodeJS.ErrnoException).code ?? ''),
    });
  } finally {
    waiting.abort();
    request.destroy();
    screen.show([]);
  }
  screen.line(`uploaded ${byteSize(file.size)} in ${((now() - began) / 1000).toFixed(1)} s`);
}
