import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { drainServer } from '../../runtime/drain-server.ts';
import { createWork } from '../../runtime/idle.ts';
import { type Ids, randomIds } from '../../runtime/ids.ts';
import { listenOn } from '../../runtime/listening.ts';
import type { Log } from '../../runtime/log.ts';
import { createSocketBounds } from '../../runtime/socket-bounds.ts';
import { createTurns } from '../../runtime/turns.ts';
import { clientAddress } from '../entrance/client-address.ts';
import { createWebServer, type Entrance } from '../entrance/web-server.ts';
import { createCors } from './cors.ts';
import { drainRefusedBody } from './drain-refused-body.ts';
import { createObjectFiles, STORE_FOLDER } from './object-files.ts';
import { createObjectOperations, type Exchange, type ObjectRules, type OperationLimits } from './object-operations.ts';
import type { StoreCredentials } from './request-signature.ts';
import { errorXml, toS3Error } from './s3-error.ts';
import { createStoreKey, keyOf, type StoreKey } from './store-key.ts';

interface StoreLimits extends OperationLimits {
  connections: number;
  /** Milliseconds. A client that takes none of the bytes sent to it for this time is cut off. */
  stallMs: number;
  /** Milliseconds without a byte in either direction, after which a connection counts as dead. */
  idleMs: number;
}

export interface EmbeddedStoreParts extends ObjectRules {
  /** The data folder: objects are in `objects/`, the secret key in `object-store-key`. */
  folder: string;
  /** Without them, a key is made at the first start and kept in the folder. */
  credentials?: StoreCredentials | StoreKey;
  region: string;
  bucket: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  ids?: Ids;
  limits?: Partial<StoreLimits>;
  /** URLs of the pages whose origins may upload from a browser. By default there are none. */
  pages?(): readonly string[];
  /** TLS and the PROXY protocol; undefined for plain HTTP. */
  entrance?: Entrance | undefined;
}

const MAX_OBJECT_BYTES = 5 * 1024 ** 3;
const LIMITS: StoreLimits = {
  objectBytes: MAX_OBJECT_BYTES,
  uploads: 64,
  downloads: 256,
  uploadsOfObject: 2,
  connections: 512,
  stallMs: 120_000,
  idleMs: 60_000,
  reservedBytes: 256 * 1024 ** 2,
};
/** Transfers take at most five eighths of the connections, so that a new connection is always accepted. */
function limitsOf(given: Partial<StoreLimits> = {}): StoreLimits {
  const connections = given.connections ?? LIMITS.connections;
  const uploads = Math.min(LIMITS.uploads, Math.ceil(connections / 8));
  const downloads = Math.min(LIMITS.downloads, Math.ceil(connections / 2));
  return { ...LIMITS, uploads, downloads, ...given };
}

/**
 * Microseconds for which a count of the stored bytes is used again, because counting examines every file, and there may
 * be a hundred thousand.
 */
const STORED_KEPT_MICROS = 600_000_000;
// Milliseconds. A whole request has no time limit, since a device may be slow; only silence ends it.
const TIMEOUTS = { headersTimeout: 10_000, requestTimeout: 0, keepAliveTimeout: 65_000 };
// Milliseconds that transfers have at shutdown; then they are cut off.
const DRAIN_MS = 8_000;
// Blocks of 64 to 128 KiB that may be hashed or written in one turn of the event loop, over all transfers: about half a
// millisecond of work.
const BLOCKS_PER_TURN = 4;
/**
 * An S3-compatible endpoint over a folder, on a listener of its own: PUT, GET with ranges, HEAD and DELETE of objects in
 * one bucket, and HEAD of the bucket. Every request is signed, in the query or in a header, and the signature is verified
 * first; a client that sends `Expect: 100-continue` is refused before it sends the body.
 * As in S3, a presigned PUT may be used again while it is valid, even after the object was deleted.
 */
export function createEmbeddedStore(parts: EmbeddedStoreParts) {
  const { folder, clock, log, metrics, ids = randomIds } = parts;
  const limits = limitsOf(parts.limits);
  const key = keyOf(parts.credentials) ?? createStoreKey({ folder, ids, clock });
  const files = createObjectFiles(join(folder, STORE_FOLDER));
  const turn = createTurns(BLOCKS_PER_TURN);
  const operations = createObjectOperations({ ...parts, limits, files, turn, accepted: key.accepted });
  const isPreflight = createCors(parts.pages ?? (() => []));
  const work = createWork();
  /** Connections whose current request is not answered completely. */
  const busy = new WeakSet<Socket>();
  /** The listeners that are shut down. */
  const draining = new Set<Server>();
  let stored = { at: Number.NEGATIVE_INFINITY, bytes: Promise.resolve(0) };

  async function refuse({ request, response, continued }: Exchange, thrown: unknown, requestId: string): Promise<void> {
    const error = toS3Error(thrown);
    if (response.destroyed || response.headersSent || (request.destroyed && !request.complete)) {
      // Either the client went away, or the answer has begun: all that remains is to cut the connection.
      log.debug({ listener: 'objects', requestId, err: thrown }, 'transfer broke off');
      response.destroy();
      return;
    }
    const line = { listener: 'objects', requestId, method: request.method, error: error.code, err: error.cause };
    if (error.code === 'InternalError') log.error(line, 'request failed');
    else if (error.status >= 500) log.warn(line, 'request refused');
    else log.debug(line, 'request refused');
    const body = errorXml(error, request.url?.split('?')[0] ?? '', requestId);
    const unread = !request.complete;
    response.writeHead(error.status, {
      ...error.headers,
      'Content-Type': 'application/xml',
      'Content-Length': Buffer.byteLength(body),
      ...(unread && { Connection: 'close' }),
    });
    if (request.method !== 'HEAD') response.write(body);
    if (unread && continued) await drainRefusedBody(request, response, clock);
    else response.end();
  }

  async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    { own, expectsContinue }: { own: boolean; expectsContinue: boolean },
  ): Promise<void> {
    const { socket } = request;
    if (socket.destroyed) return; // a request behind another one on a connection that was ended meanwhile
    if (busy.has(socket)) {
      // Clients of S3 wait for an answer before the next request. Without this bound, a thousand pipelined requests would be
      // a thousand transfers.
      metrics.objectsRefused.inc({ bound: 'requests_per_connection' });
      socket.destroy();
      return;
    }
    busy.add(socket);
    bounds.works(socket);
    response.once('close', () => {
      busy.delete(socket);
      bounds.waits(socket);
      // This answer began before the shutdown, without `Connection: close`. Its connection is idle now, so it is
      // closed.
      for (const listener of draining) listener.closeIdleConnections();
    });
    work.begun();
    const requestId = ids.uuid();
    const exchange: Exchange = {
      request,
      response,
      own,
      continued: !expectsContinue,
      proceed() {
        if (!exchange.continued) response.writeContinue();
        exchange.continued = true;
      },
    };
    try {
      response.setHeader('x-amz-request-id', requestId);
      if (!own && parts.entrance?.hsts !== undefined) {
        response.setHeader('Strict-Transport-Security', parts.entrance.hsts);
      }
      // During shutdown, idle connections are closed by Node; this header closes a connection in use after its answer.
      if (draining.has(own ? ownServer : server)) response.setHeader('Connection', 'close');
      if (!own && isPreflight(request, response)) return;
      await operations.serve(exchange);
    } catch (thrown) {
      await refuse(exchange, thrown, requestId);
    } finally {
      metrics.objectRequests.inc({ method: knownMethod(request.method), status: response.statusCode });
      work.ended();
    }
  }

  function createListener(own: boolean, create: (take: RequestListener) => Server): Server {
    const server = create((request, response) => void handle(request, response, { own, expectsContinue: false }));
    server.on('checkContinue', (request, response) => void handle(request, response, { own, expectsContinue: true }));
    server.setTimeout(limits.idleMs);
    return server;
  }
  const options = { ...TIMEOUTS, noDelay: true };
  const bounds = createSocketBounds({
    clock,
    // All clients behind a proxy, and all devices of a site, have one address, so the bound per address equals the total.
    // Transfers take fewer, so there is always an idle connection to cut.
    limits: { perAddress: limits.connections, total: limits.connections, stallMs: limits.stallMs },
    addressOf: clientAddress,
    onBound: (bound) => metrics.objectsRefused.inc({ bound }),
  });
  const { entrance } = parts;
  const server = createListener(false, (take) =>
    createWebServer({ entrance, options, take, admit: bounds.admit, secures: bounds.secures }),
  );
  // The service reads its objects through a listener of its own, so that clients who take all connections of the public one
  // cannot shut it out.
  const ownServer = createListener(true, (take) => createServer(options, take));

  const drainOf = (listener: Server): Promise<void> => {
    draining.add(listener);
    const ofClients = { bounds, stopped: () => entrance?.gate?.end(entrance.listener) };
    return drainServer(listener, { clock, limitMs: DRAIN_MS, ...(listener === server && ofClients) });
  };
  let clientsDrained: Promise<void> | undefined;
  function drainClients(): Promise<void> {
    clientsDrained ??= drainOf(server);
    return clientsDrained;
  }
  async function drain(): Promise<void> {
    await Promise.all([drainClients(), drainOf(ownServer)]);
    await work.idle(); // transfers that were cut off still remove their drafts
  }

  return {
    credentials: key.current(),
    /** Listens for clients. Port 0 picks a free port. */
    listen: async (host: string, port: number) => ({ port: await listenOn(server, host, port) }),
    /** Listens for the service itself, on loopback. */
    listenOwn: async () => ({ port: await listenOn(ownServer, '127.0.0.1', 0) }),
    /** The bytes that are stored, counted at most ten minutes ago. */
    async usage(): Promise<{ stored: number }> {
      if (clock.now() - stored.at > STORED_KEPT_MICROS) stored = { at: clock.now(), bytes: files.stored() };
      return { stored: await stored.bytes };
    },
    /** Lists the objects whose keys begin with `prefix`, in pages; for the service itself, without a signature. */
    async *list(prefix: string): AsyncGenerator<{ key: string; size: number; uploadedAt: number }[]> {
      for await (const page of files.list()) yield page.filter(({ key }) => key.startsWith(prefix));
    },
    /** The same as `drain` for clients alone: the service itself still reaches its objects. */
    drainClients,
    /** Stops accepting connections, closes the idle ones, and lets transfers finish within 8 seconds. */
    drain,
    /** Resolves when no request is in flight and all drafts are removed. */
    idle: work.idle,
    [Symbol.asyncDispose]: drain,
  };
}

const knownMethod = (method: string | undefined): string =>
  ['GET', 'HEAD', 'PUT', 'DELETE'].includes(method ?? '') ? (method ?? '') : 'other';
