import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Look } from '../promises/looks.ts';
import { deriveSeed } from '../random.ts';
import { UsageError } from '../usage-error.ts';
import { type AttemptEnd, type Attempts, createAttempts, type Untimely } from './attempts.ts';
import { createFileStore, type FileStore, type WantedFile } from './file-store.ts';
import { genuineWebhook, type ReceivedWebhook } from './genuine.ts';
import {
  faultOfLot,
  type PlayedFault,
  REDIRECTED,
  REFUSALS,
  RETRY_AFTER_SECONDS,
  type ReceiverFault,
} from './receiver-fault.ts';

const EVENTS = '/events';
const URLS = '/upload-urls';
const FILES = '/files';
const ENDPOINTS = '/endpoints/';

const SLOW_MILLISECONDS = 3000;
/** Bytes of the body of a slow answer, and milliseconds between two of them: longer than the service waits. */
const SLOW_BYTES = 20;
const BYTE_MILLISECONDS = 1000;
/** The most webhooks that were answered 410 of which the ids are kept. */
const MOST_GONE = 10_000;
/** An answer within this time has certainly come in time: the service waits 15 seconds. */
const IN_TIME_SECONDS = 8;
/** The largest webhook: no larger than the transaction record in it. */
const MOST_BYTES = 1024 ** 2;

/** The work of the receiver for an endpoint. */
interface EndpointPart {
  /** Verifies an event; throws an Error that says what is wrong. */
  verify(headers: IncomingHttpHeaders, body: Buffer): ReceivedWebhook;
  /** A genuine event has arrived, and is about to be answered 2xx (`isAnswered`), or otherwise. */
  onArrived(received: ReceivedWebhook, isAnswered: boolean): void;
}

export interface Receiver extends AsyncDisposable {
  /** The URL for events and for requests for upload URLs. */
  readonly url: string;
  readonly urlsUrl: string;
  readonly store: FileStore;
  /** The attempts at the URLs of the settings, and at endpoints. */
  readonly attempts: Pick<Attempts, 'forget' | 'rest' | 'suspend'>;
  /** The URL of an endpoint with this name. */
  endpointUrl(name: string): string;
  /** Receives for an endpoint from now on. */
  receiveFor(name: string, endpoint: EndpointPart): void;
  /** How often each fault was played. */
  played(): Readonly<Record<string, number>>;
  /** The ids of webhooks that were answered 410 and have not come again. */
  gone(): readonly string[];
  /** Plays these faults from now on, each for its share of the requests of the service. */
  play(faults: readonly PlayedFault[]): void;
}

/**
 * Whether the service certainly still waits for the answer to a webhook: it was signed less than 8 s ago. A slow
 * simulator, or a clock that differs from the service's, makes this false.
 */
const isInTime = ({ headers }: IncomingMessage): boolean =>
  Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp'])) < IN_TIME_SECONDS;

/**
 * The webhook receiver of a customer. It verifies the signature over the raw bytes. It answers 204 to a genuine
 * webhook (also a repeated one), upload URLs to a request for them, and 401 to the rest. It also takes the files that
 * devices upload. `listen`: port 0 means a free one. `publicUrl`: the address at which the service reaches the
 * receiver, if it differs.
 */
export async function startReceiver({
  listen,
  publicUrl,
  authenticationKey,
  verify = (headers, body) => genuineWebhook(headers, body, authenticationKey()),
  seed = 1,
  store: given,
  onReceived,
  onUrlsWanted,
  onForged,
  onUntimely = () => {},
  look,
}: {
  listen: { host: string; port: number };
  publicUrl?: string | undefined;
  authenticationKey: () => string;
  /** Verifies a webhook; throws an Error that says what is wrong. By default with the authenticationKey. */
  verify?: (headers: IncomingHttpHeaders, body: Buffer) => ReceivedWebhook;
  seed?: number;
  /**
   * The store in which the customer wants the files of devices: it presigns the URLs of uploads. Without it the
   * receiver has a store of its own.
   */
  store?: { presign(file: WantedFile): object | Promise<object> };
  onReceived: (received: ReceivedWebhook) => void;
  onUrlsWanted?: (event: { type: string; files: number }) => void;
  /** Called for a webhook whose signature is wrong, so its `body` may say anything. */
  onForged: (reason: string, body: Buffer) => void;
  /** Called for an attempt that breaks the documented schedule of attempts. The signature of `body` is not verified. */
  onUntimely?: (untimely: Untimely, body: Buffer) => void;
  look?: Look | undefined;
}): Promise<Receiver> {
  let base = '';
  let playing: readonly PlayedFault[] = [];
  const gone = new Set<string>();
  const played: Record<string, number> = {};
  let came = 0;
  const store = createFileStore({ base: () => base + FILES });
  const attempts = createAttempts(look);
  const endpoints = new Map<string, EndpointPart & { readonly attempts: Attempts }>();
  const ofAll = (does: (one: Attempts) => void): void => {
    for (const one of [attempts, ...[...endpoints.values()].map((endpoint) => endpoint.attempts)]) does(one);
  };
  const slow = new Set<NodeJS.Timeout>();
  const presign = async (file: WantedFile): Promise<object> => (given ?? store).presign(file);

  /** The answer to a request for upload URLs (op 2: fileUploadGetUrl, callRecGetMultiPresignedUrl). */
  async function uploadUrls(event: { type: string; data: object }): Promise<object> {
    const data = event.data as WantedFile & { files?: WantedFile[] };
    onUrlsWanted?.({ type: event.type, files: data.files?.length ?? 1 });
    return data.files ? { urls: await Promise.all(data.files.map(presign)) } : presign(data);
  }

  /** Tells an endpoint of an event that it refuses: it may have worked on it all the same. */
  function refused(request: IncomingMessage, body: Buffer): void {
    const endpoint = endpoints.get(request.url ?? '');
    if (!endpoint) return;
    try {
      endpoint.onArrived(endpoint.verify(request.headers, body), false);
    } catch (error) {
      onForged((error as Error).message, body);
    }
  }

  async function answer(
    request: IncomingMessage,
    untimely: Untimely | undefined,
    invite: () => void,
  ): Promise<{ status: number; body?: object }> {
    if (request.url === REDIRECTED) return { status: 404 };
    if (request.url?.startsWith(`${FILES}/`)) return { status: await store.receive(request, invite) };
    if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) return { status: 413 };
    const endpoint = endpoints.get(request.url ?? '');
    // Its key is not known yet, or it is one of an earlier run that was killed.
    if (!endpoint && request.url?.startsWith(ENDPOINTS)) return { status: 503 };
    const body = await buffer(request);
    if (untimely) onUntimely(untimely, body);
    let received: ReceivedWebhook;
    try {
      received = (endpoint?.verify ?? verify)(request.headers, body);
    } catch (error) {
      onForged((error as Error).message, body);
      return { status: 401 };
    }
    if (request.url === URLS) return { status: 200, body: await uploadUrls(received.event) };
    if (endpoint) endpoint.onArrived(received, true);
    else onReceived(received);
    return { status: 204 };
  }

  function faultOf(request: IncomingMessage): ReceiverFault | null {
    if (playing.length === 0 || request.url?.startsWith(`${FILES}/`)) return null;
    came += 1;
    const fault = faultOfLot(playing, deriveSeed(seed, came) / 2 ** 32);
    if (fault) played[fault] = (played[fault] ?? 0) + 1;
    return fault;
  }

  /** `invite` sends "100 Continue" to a client that waits for it before the body (RFC 9110 10.1.1). */
  async function handle(request: IncomingMessage, response: ServerResponse, invite: () => void): Promise<void> {
    const fault = faultOf(request);
    const book = endpoints.get(request.url ?? '')?.attempts ?? (request.url === EVENTS ? attempts : undefined);
    const webhookId = book ? String(request.headers['webhook-id'] ?? '') : '';
    const untimely = webhookId === '' ? undefined : book?.arrived(webhookId, performance.now());
    const ended = (end: AttemptEnd, retryAfter?: number): void => {
      if (webhookId !== '') book?.ended(webhookId, end, performance.now(), retryAfter);
    };
    if (book === attempts) gone.delete(webhookId);
    if (fault === 'go-away') {
      ended('dropped');
      if (untimely) onUntimely(untimely, Buffer.alloc(0));
      request.socket.destroy();
      return;
    }
    if (fault === 'hang') {
      ended('refused');
      const body = await buffer(request);
      if (untimely) onUntimely(untimely, body);
      refused(request, body);
      return;
    }
    const refusal = fault && REFUSALS[fault];
    if (refusal) {
      const body = await buffer(request);
      if (untimely) onUntimely(untimely, body);
      refused(request, body);
      if (fault === 'gone' && book === attempts && webhookId !== '' && gone.size < MOST_GONE) gone.add(webhookId);
      response
        .on('finish', () => {
          if (fault === 'gone') ended('gone');
          else ended('refused', fault === 'too-many' ? 1000 * RETRY_AFTER_SECONDS : 0);
        })
        .writeHead(refusal.status, refusal.headers)
        .end();
      return;
    }
    const { status, body } = await answer(request, untimely, invite);
    response.on('finish', () => {
      if (status >= 300) ended('refused');
      else if (fault === null && isInTime(request)) ended('taken');
    });
    const send = (): void => {
      if (body) response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      else response.writeHead(status).end();
      // Reads and drops the rest of a body that was answered before its end, so that the connection can be used again.
      request.resume();
    };
    if (fault === 'slow-body' && status === 204) return drip(response);
    if (fault !== 'slow') return send();
    const timer = setTimeout(() => {
      slow.delete(timer);
      send();
    }, SLOW_MILLISECONDS);
    slow.add(timer);
  }

  /** Answers with a body of which one byte a second arrives. Whether the service waits for it is left to the service. */
  function drip(response: ServerResponse): void {
    response.writeHead(200, { 'content-length': SLOW_BYTES });
    let sent = 0;
    const timer = setInterval(() => {
      response.write(' ');
      sent += 1;
      if (sent === SLOW_BYTES) response.end();
    }, BYTE_MILLISECONDS);
    slow.add(timer);
    response.once('close', () => {
      clearInterval(timer);
      slow.delete(timer);
    });
  }

  const take = (request: IncomingMessage, response: ServerResponse, invite: () => void): void => {
    // The sender closed the connection in the middle of its body.
    handle(request, response, invite).catch(() => response.destroy());
  };
  const server = createServer((request, response) => take(request, response, () => {}));
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    take(request, response, () => response.writeContinue()),
  );
  // No connection is closed for idleness, because the next webhook might be on its way at that moment.
  server.keepAliveTimeout = 0;
  server.listen(listen.port, listen.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new UsageError('--webhook-listen', (error as Error).message);
  }
  const { port } = server.address() as AddressInfo;
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  base = publicUrl?.replace(/\/+$/, '') ?? `http://${host}:${port}`;

  return {
    url: base + EVENTS,
    urlsUrl: base + URLS,
    store,
    attempts: {
      forget: () => ofAll((one) => one.forget()),
      rest: () => ofAll((one) => one.rest()),
      suspend: (suspended) => ofAll((one) => one.suspend(suspended)),
    },
    endpointUrl: (name) => base + ENDPOINTS + name,
    receiveFor(name, endpoint) {
      endpoints.set(ENDPOINTS + name, { ...endpoint, attempts: createAttempts(look, false) });
    },
    played: () => played,
    gone: () => [...gone],
    play(faults) {
      playing = faults;
    },
    async [Symbol.asyncDispose]() {
      for (const timer of slow) clearTimeout(timer);
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
