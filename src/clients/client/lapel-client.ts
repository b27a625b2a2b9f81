import { randomUUID } from 'node:crypto';
import type { SchemaTypes } from '../../platform/contracts/types.ts';
import { LapelError } from './lapel-error.ts';
import { OPERATIONS, type Operations } from './operations.ts';
import { createTransport, systemPause, type TransportOptions } from './transport.ts';

type Name = keyof Operations;
type TransactionRecord = SchemaTypes['rest/transaction-record'];

interface ClientOptions extends TransportOptions {
  /** Where the REST API is: `http://127.0.0.1:8080`. */
  baseUrl: string;
  applicationId: string;
  /** Shown once when the application was made. */
  secret: string;
  /** What its access tokens are good for; by default everything here. */
  scopes?: readonly string[];
  /** Milliseconds of a clock that only goes forward: for programs with one of their own. */
  now?: () => number;
}

/** What goes with any call. */
interface CallOptions {
  signal?: AbortSignal;
  /** For operations that create transactions: your own, to repeat the call after a crash of yours. Otherwise one is made. */
  idempotencyKey?: string;
}

/** Any input: besides these, what stands in the path. */
type Input = CallOptions & { body?: unknown; query?: Record<string, string | number> } & Record<string, never>;

type Calls = {
  [N in Name]: object extends Operations[N]['input']
    ? (input?: Operations[N]['input'] & CallOptions) => Promise<Operations[N]['answer']>
    : (input: Operations[N]['input'] & CallOptions) => Promise<Operations[N]['answer']>;
};

/** Operations whose answer is a page, by the name of its list. */
const LISTS = {
  listStatuses: 'devices',
  listTransactions: 'transactions',
  listDeliveries: 'deliveries',
  listPackages: 'packages',
  listVersions: 'versions',
  listAvailable: 'userPackages',
} as const satisfies Partial<Record<Name, string>>;
type ListName = keyof typeof LISTS;
type Row<N extends ListName> = Operations[N]['answer'] extends Record<(typeof LISTS)[N], (infer R)[]> ? R : never;

interface Helpers {
  /** Every row of a list, page by page as they are used. */
  each<N extends ListName>(
    name: N,
    input: Omit<Operations[N]['input'], 'query'> & { query?: object },
  ): AsyncGenerator<Row<N>>;
  /** The record of a transaction once it is finished: looked up, with growing pauses of up to two seconds. Webhooks are quicker. */
  finished(input: { deviceId: string; transactionId: number; signal?: AbortSignal }): Promise<TransactionRecord>;
}

export type LapelClient = Calls & Helpers;

const FINISHED = new Set(['succeeded', 'failed', 'cancelled']);
const LONGEST_PAUSE = 2000;
// Seconds. A token is not used any more when less of it is left; RFC 6749 lets a service say nothing of its life.
const TOKEN_MARGIN = 60;
const TOKEN_LIFE = 3600;

/**
 * A client of the application API: a method per operation, in the types of the schemas. Access tokens are fetched and
 * renewed as needed; a call that creates a transaction carries an Idempotency-Key, so that it is sent again after a lost
 * connection and still carried out once. Throws LapelError.
 */
export function createLapelClient(options: ClientOptions): LapelClient {
  const { baseUrl, applicationId, secret, now = () => performance.now(), pause = systemPause } = options;
  const scopes = options.scopes ?? [...new Set(Object.values(OPERATIONS).map(({ scope }) => scope))];
  const send = createTransport(baseUrl, options);
  let token: Promise<{ authorization: string; until: number }> | undefined;

  async function authenticate(): Promise<{ authorization: string; until: number }> {
    const basic = Buffer.from(`${encodeURIComponent(applicationId)}:${encodeURIComponent(secret)}`).toString('base64');
    const { body } = await send({
      method: 'POST',
      path: '/api/v1/authenticate',
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: scopes.join(' ') }),
      repeatable: true,
    });
    const answer = body as SchemaTypes['rest/token-answer'];
    const life = typeof answer.expires_in === 'number' ? answer.expires_in : TOKEN_LIFE;
    const until = now() + Math.max(life - TOKEN_MARGIN, life / 2) * 1000;
    return { authorization: `Bearer ${answer.access_token}`, until };
  }

  /** Calls of the same moment share one token. */
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
    const { body, query, signal, idempotencyKey, ...params } = input;
    const values: Record<string, string | number> = { ...params, applicationId };
    const request = {
      method,
      path: path.replace(/\{(\w+)\}/g, (_, param: string) => encodeURIComponent(values[param] ?? '')),
      query,
      body,
      repeatable: repeatable || method !== 'POST',
      signal,
    };
    const key: Record<string, string> = repeatable ? { 'idempotency-key': idempotencyKey ?? randomUUID() } : {};
    try {
      return await send({ ...request, headers: { ...key, authorization: await authorization() } });
    } catch (error) {
      if (!(error instanceof LapelError) || error.status !== 401) throw error;
      token = undefined; // it may end before its time: once more with a new one
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

    async *each(name, input) {
      let query: object | undefined = { limit: 1000, ...input.query };
      // A page may be short, even empty, and not be the last one: only its link tells.
      while (query) {
        const { body, next } = await call(name, { ...input, query } as unknown as Input);
        yield* (body as Record<string, unknown>)[LISTS[name]] as Row<typeof name>[];
        query = next && Object.fromEntries(next);
      }
    },

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
