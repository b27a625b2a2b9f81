import type { AdminOperations } from '@lapel/client/admin-operations';
import { adminRequest } from '@lapel/client/admin-request';
import { searchOf } from '@lapel/client/transport';

/** The answer to a request. */
export interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Makes one request. Throws an Error that names the address when the service cannot be reached. */
export async function send(baseUrl: string, path: string, init: RequestInit): Promise<Reply> {
  try {
    const response = await fetch(baseUrl + path, init);
    return { status: response.status, body: readBody(await response.text()) };
  } catch (error) {
    throw unreachable(baseUrl, error);
  }
}

/**
 * The Error for the reader of the terminal when no server answers: it names the address and the cause of fetch's error.
 */
export function unreachable(baseUrl: string, error: unknown): Error {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
  return new Error(`cannot reach ${baseUrl}: ${cause}`, { cause: error });
}

/** A client that sends and receives JSON with a bearer token. */
export function createServiceClient({ baseUrl, token }: { baseUrl: string; token: string }) {
  const authorization = `Bearer ${token}`;
  return (method: string, path: string, body?: unknown): Promise<Reply> =>
    body === undefined
      ? send(baseUrl, path, { method, headers: { authorization } })
      : send(baseUrl, path, {
          method,
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
}

/** Administration: an operation is called by its name, with the parameters of its path, its query and its body. */
export function createAdminClient(access: { baseUrl: string; token: string }) {
  const request = createServiceClient(access);
  return <Name extends keyof AdminOperations>(name: Name, input: AdminOperations[Name]['input']): Promise<Reply> => {
    const { method, path, query = {}, body } = adminRequest(name, input);
    const asked = searchOf(query);
    return request(method, asked === '' ? path : `${path}?${asked}`, body);
  };
}

export type AdminClient = ReturnType<typeof createAdminClient>;

/**
 * Sends lines of NDJSON; resolves to the outcome of each line, which the service answers as NDJSON too. Throws an Error
 * that quotes the answer if the whole request is refused.
 */
export async function sendLines(
  url: string,
  token: string,
  lines: readonly object[],
): Promise<Record<string, unknown>[]> {
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
  const { origin, pathname } = new URL(url);
  try {
    const response = await fetch(url, { method: 'POST', headers, body });
    const text = await response.text();
    if (!response.ok) throw unexpected(`cannot POST ${pathname}`, { status: response.status, body: readBody(text) });
    return text.split('\n').filter(Boolean).map(readBody);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw unreachable(origin, error);
  }
}

export type ServiceClient = ReturnType<typeof createServiceClient>;

function readBody(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * Makes an Error from an unexpected answer. It puts the answer's texts into one line; the service has two forms of
 * error bodies.
 */
export function unexpected(what: string, { status, body }: Reply): Error {
  const words = [body['message'], body['reason']].find((text) => typeof text === 'string') ?? '';
  const details = body['details'] === undefined ? '' : ` ${JSON.stringify(body['details'])}`;
  return new Error(`${what}: ${status} ${words}${details}`.trimEnd());
}

/** Runs `task` for all items, `limit` at a time; resolves to the results in their order. The first failure ends it. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  task: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    // The workers share one iterator: each takes the next item that is left.
    for (const [index, item] of queue) results[index] = await task(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
