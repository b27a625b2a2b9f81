import { Failure } from '../show/failure.ts';

/** The answer of the service to a message, as lines for the assistant; none for a notification. */
export interface Exchanged {
  lines: string[];
  /** A problem, for standard error. */
  problem?: string;
}

interface Message {
  id?: string | number | null;
  method?: string;
  params?: { name?: unknown; uri?: unknown; _meta?: Record<string, unknown> };
}

interface Parts {
  /** The address of `/mcp`. */
  url: URL;
  /** The `Authorization` header of the next request. */
  authorization(): Promise<string>;
  userAgent: string;
  fetch?: typeof fetch;
  /** Milliseconds for an answer. */
  timeout?: number;
}

/** Codes of JSON-RPC. */
const PARSE_ERROR = -32_700;
const UNREACHED = -32_000;
const VERSION = 'io.modelcontextprotocol/protocolVersion';
/** The characters that a header may have. */
const PLAIN = /^[\x20-\x7e]{1,256}$/;
const LARGEST = 65_536;

const errorLine = (id: Message['id'], code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message } });

/** The headers that a message of 2026 must have beside its body; one of 2025 has none of its own. */
function headersOf({ method, params }: Message): Record<string, string> {
  const version = params?._meta?.[VERSION];
  if (typeof version !== 'string' || !PLAIN.test(version) || method === undefined) return {};
  const name = typeof params?.name === 'string' ? params.name : params?.uri;
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' && PLAIN.test(name) && { 'mcp-name': name }),
  };
}

/** The messages in a stream of events, each of which is one line. */
const messagesIn = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trim())
    .filter((line) => line !== '');

/**
 * Passes the messages of an assistant on to `/mcp` of a service, each as a request of its own. Whatever goes wrong is an
 * answer with the id of the message, so that the assistant can tell it and go on.
 */
export function createExchange({ url, authorization, userAgent, fetch = globalThis.fetch, timeout = 60_000 }: Parts) {
  async function ask(line: string, message: Message): Promise<Exchanged> {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.timeout(timeout),
      headers: {
        authorization: await authorization(),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'user-agent': userAgent,
        ...headersOf(message),
      },
      body: line,
    });
    const text = await response.text();
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    const lines = isStream ? messagesIn(text) : text === '' ? [] : [text];
    const problem = response.ok ? {} : { problem: `the service answered ${response.status}` };
    if (message.id === undefined) return { lines: [], ...problem };
    try {
      // An error of before the message was read has no id, but the assistant waits for one.
      const answers = lines.map((one) => ({ ...(JSON.parse(one) as object), id: message.id }));
      if (answers.length > 0) return { lines: answers.map((one) => JSON.stringify(one)), ...problem };
    } catch {
      // No JSON: something else answers at this address.
    }
    const said = `the address ${url.href} answered ${response.status}, and no message of the protocol`;
    return { lines: [errorLine(message.id, UNREACHED, said)], problem: said };
  }

  return async (line: string): Promise<Exchanged> => {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
      if (message === null || typeof message !== 'object' || Array.isArray(message)) throw new Error('no object');
    } catch {
      const problem = 'a line of standard input is no message of the protocol';
      return { lines: [errorLine(null, PARSE_ERROR, problem)], problem };
    }
    if (Buffer.byteLength(line) > LARGEST) {
      const problem = `a message has more than ${LARGEST} bytes`;
      return { lines: message.id === undefined ? [] : [errorLine(message.id, UNREACHED, problem)], problem };
    }
    try {
      return await ask(line, message);
    } catch (error) {
      const { cause, message: what } = error as Error;
      const status = error instanceof Failure ? error.refusal?.status : undefined;
      const isRefused = status === 401 || status === 403; // as for a secret that was replaced
      const problem = isRefused
        ? `the account was refused: ${what}`
        : `the service at ${url.origin} was not reached: ${cause instanceof Error ? cause.message : what}`;
      return { lines: message.id === undefined ? [] : [errorLine(message.id, UNREACHED, problem)], problem };
    }
  };
}
