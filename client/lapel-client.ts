import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { fillPath } from './fill-path.ts';
import { LapelError } from './lapel-error.ts';
import { OPERATIONS, type Operations, TOKEN_REQUEST } from './operations.ts';
import { type EventsInput, readEvents, type StreamEvent } from './read-events.ts';
import { createTransport, type Query, systemPause, type TransportOptions } from './transport.ts';

type Name = keyof Operations;
type TransactionRecord = SchemaTypes['rest/transaction-record'];

export interface ClientOptions extends TransportOptions {
  /** The base URL of the REST API: `http://127.0.0.1:8080`. */
  baseUrl: string;
  applicationId: string;
  /**
   * The secret of the application, which was shown once when it was created; or the token of a person of its developer.
   */
  secret: string;
  /** The scopes of the access tokens; by default all that the operations need. */
  scopes?: readonly string[];
  /** Milliseconds of a clock that never goes back, for programs with a clock of their own. */
  now?: () => number;
}

/** The options of every call. */
export interface CallOptions {
  signal?: AbortSignal;
  /**
   * Used by operations that create transactions. Give your own to repeat the call after a crash of your program;
   * otherwise one is generated.
   */
  idempotencyKey?: string;
}

/**
 * The input of any operation: a body, a query, the tag of the state that the caller has read, and the parameters of its path,
 * with the options of every call.
 */
type Input = CallOptions & { body?: unknown; query?: Query; ifMatch?: string } & Record<string, never>;

type Calls = {
  [N in Name]: object extends Operations[N]['input']
    ? (input?: Operations[N]['input'] & CallOptions) => Promise<Operations[N]['answer']>
    : (input: Operations[N]['input'] & CallOptions) => Promise<Operations[N]['answer']>;
};

/** The operations that answer one page of a list, each with the name of the member that contains the list. */
const LISTS = {
  listOwnBinaryWarnings: 'warnings',
  listStatuses: 'devices',
  listOwnDevices: 'devices',
  listTransactions: 'transactions',
  listOwnTransactions: 'transactions',
  listOwnAudit: 'entries',
  listDeliveries: 'deliveries',
  listPackages: 'packages',
  listVersions: 'versions',
  listAvailable: 'userPackages',
  listRollouts: 'rollouts',
  listRolloutDevices: 'devices',
} as const satisfies Partial<Record<Name, string>>;
type ListName = keyof typeof LISTS;
type Row<N extends ListName> = Operations[N]['answer'] extends Record<(typeof LISTS)[N], (infer R)[]> ? R : never;

interface Helpers {
  /** The access token of the next call, for requests that are made without this client. Throws LapelError. */
  accessToken(): Promise<string>;
  /** Makes a call, and returns the answer with its entity tag, to be sent as `ifMatch` with a change of what was read. */
  tagged<N extends Name>(
    name: N,
    input: Operations[N]['input'] & CallOptions,
  ): Promise<{ answer: Operations[N]['answer']; tag: string | undefined }>;
  /** Yields every row of a list. Pages are fetched as they are needed. */
  each<N extends ListName>(
    name: N,
    input: Omit<Operations[N]['input'], 'query'> & { query?: object },
  ): AsyncGenerator<Row<N>>;
  /**
   * Waits until a transaction is finished and returns it. It is read again and again, with growing pauses of up to two
   * seconds; webhooks are faster.
   */
  finished(input: { deviceId: string; transactionId: number; signal?: AbortSignal }): Promise<TransactionRecord>;
  /** Yields the events of the application in order, and waits for further ones; see `readEvents`. */
  events(input?: EventsInput): AsyncGenerator<StreamEvent>;
}

export type LapelClient = Calls & Helpers;

/** The beginning of the tokens of people, which take the place of access tokens. */
const MEMBER_TOKEN = 'lapeldev_';
const FINISHED = new Set(['succeeded', 'failed', 'cancelled']);
const LONGEST_PAUSE = 2000;
// Seconds. A token is replaced when it is valid for less than TOKEN_MARGIN. TOKEN_LIFE is assumed when the service does
// not say how long a token is valid (RFC 6749 lets it leave that out).
const TOKEN_MARGIN = 60;
const TOKEN_LIFE = 3600;

/**
 * A client of the application API: one method per operation, in the types of the schemas. Access tokens are fetched and
 * renewed automatically. A call that creates a transaction carries an Idempotency-Key, so it can be repeated after a
 * lost connection and is still carried out only once. Throws LapelError.
 */
export function createLapelClient(options: ClientOptions): LapelClient {
  const { baseUrl, applicationId, secret, now = () => performance.now(), pause = systemPause } = options;
  const scopes = options.scopes ?? [...new Set(Object.values(OPERATIONS).map(({ scope }) => scope))];
  const send = createTransport(baseUrl, options);
  let token: Promise<{ authorization: string; until: number }> | undefined;

  async function authenticate(): Promise<{ authorization: string; until: number }> {
    if (secret.startsWith(MEMBER_TOKEN)) return { authorization: `Bearer ${secret}`, until: Number.POSITIVE_INFINITY };
    const basic = btoa(`${encodeURIComponent(applicationId)}:${encodeURIComponent(secret)}`);
    const { body } = await send({
      ...TOKEN_REQUEST,
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: scopes.join(' ') }),
      repeatable: true,
    });
    const answer = body as SchemaTypes['rest/token-answer'];
    const life = typeof answer.expires_in === 'number' ? answer.expires_in : TOKEN_LIFE;
    const until = now() + Math.max(life - TOKEN_MARGIN, life / 2) * 1000;
    return { authorization: `Bearer ${answer.access_token}`, until };
  }

  /** Calls that are made at the same moment share one token request. */
  async function authorization(): Promise<string> {
    token ??= authenticate();
    const mine = token;
    try {
      const held = await mine;
      if (now() < held.until) return held.authorization;
    } catch (error) {
      if (token === mine) token = undefined;
      throw error;
    }
    if (token === mine) token = undefined;
    return authorization();
  }

  async function call(name: Name, input: Input): ReturnType<typeof send> {
    const { method, path, repeatable = false } = OPERATIONS[name];
    const { body, query, signal, idempotencyKey, ifMatch, ...params } = input;
    const request = {
      method,
      path: fillPath(path, { ...params, applicationId }),
      query,
      body,
      repeatable: repeatable || method !== 'POST',
      signal,
    };
    const key: Record<string, string> = {
      ...(repeatable && { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    };
    try {
      return await send({ ...request, headers: { ...key, authorization: await authorization() } });
    } catch (error) {
      if (!(error instanceof LapelError) || error.status !== 401) throw error;
      token = undefined; // a token may end early, so the call is repeated once with a new one
      return send({ ...request, headers: { ...key, authorization: await authorization() } });
    }
  }

  const calls = Object.fromEntries(
    (Object.keys(OPERATIONS) as Name[]).map((name) => [
      name,
      async (input: object = {}) => (await call(name, input as Input)).body,
    ]),
  ) as Calls;

  return {
    ...calls,

    accessToken: async () => (await authorization()).slice('Bearer '.length),

    async tagged(name, input) {
      const { body, tag } = await call(name, input as unknown as Input);
      return { answer: body as never, tag };
    },

    async *each(name, input) {
      let query: object | undefined = { limit: 1000, ...input.query };
      // A page may be short, even empty, without being the last one. The last page is the one without a link to the
      // next.
      while (query) {
        const { body, next } = await call(name, { ...input, query } as unknown as Input);
        yield* (body as Record<string, unknown>)[LISTS[name]] as Row<typeof name>[];
        query = next;
      }
    },

    events: (input = {}) => readEvents(calls, { pause, now }, input),

    async finished({ deviceId, transactionId, signal }) {
      const more = signal ? { signal } : {};
      for (let wait = 50; ; wait = Math.min(wait * 2, LONGEST_PAUSE)) {
        const record = await calls.readTransaction({ deviceId, transactionId, ...more });
        if (FINISHED.has(record.status)) return record;
        await pause(wait, signal);
      }
    },
  };
}
