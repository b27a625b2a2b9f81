import { loadContracts } from '@lapel/schemas/contracts/contracts';
import { ERRORS, type ErrorCode } from '@lapel/schemas/contracts/errors';
import { Pool } from 'undici';
import { findPath, type OpenApi, type Response, readOpenApi, type Schema, schemaName } from './documents.ts';

const contracts = loadContracts();
const api = readOpenApi('openapi.yaml');
const admin = readOpenApi('openapi-admin.yaml');

export interface CheckedAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed JSON, or the text of any other media type; undefined without a body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape was checked here
  body: any;
}

export interface RequestOptions {
  /** Sent as `Authorization: Bearer`. */
  token?: string | undefined;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as a form. */
  form?: Record<string, string>;
  /** Sent unchanged, with the `Content-Type` of `headers` if there is one. */
  text?: string | Buffer;
}

export type CheckedClient = ReturnType<typeof createClient>;

/** Whether an answer can come by chance, as from a busy machine: "too many requests", or "unavailable". */
const mayPass = (status: number): boolean => status === 429 || status >= 500;

/** The refusals that a test got, and has not looked at yet. */
export type UnreadRefusals = Set<string>;

/** An answer that is unread until somebody looks at its status, headers or body. */
function unreadAnswer(answer: CheckedAnswer, refusal: string, unread: UnreadRefusals): CheckedAnswer {
  const read = (key: keyof CheckedAnswer) => ({
    enumerable: true,
    get() {
      unread.delete(refusal);
      return answer[key];
    },
  });
  unread.add(refusal);
  return Object.defineProperties({} as CheckedAnswer, {
    status: read('status'),
    headers: read('headers'),
    body: read('body'),
  });
}

/**
 * An HTTP client for tests. It checks every answer against the OpenAPI documents: if status, headers or body differ
 * from the documented ones, the request throws. A path or method that is not documented must be answered with 403
 * `wrong url.`, or 405 with `Allow`. A request also throws if the test has not looked at a refusal that may pass, as the
 * test would go on with a state that it did not make. `unread` joins several clients.
 */
export function createClient({
  baseUrl,
  token: usual,
  unread = new Set(),
}: {
  baseUrl: string;
  token?: string;
  unread?: UnreadRefusals;
}) {
  const pool = new Pool(baseUrl);

  async function request(method: string, target: string, options: RequestOptions = {}): Promise<CheckedAnswer> {
    const [refusal] = unread;
    if (refusal !== undefined) throw new Error(`the test has not looked at a refusal: ${refusal}`);
    const { token = usual, json, form, text } = options;
    const headers: Record<string, string> = {};
    let body: string | Buffer | null = text ?? null;
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
    if (json !== undefined) {
      headers['content-type'] = 'application/json';
      body = JSON.stringify(json);
    }
    if (form !== undefined) {
      headers['content-type'] = 'application/x-www-form-urlencoded';
      body = new URLSearchParams(form).toString();
    }
    const received = await pool.request({
      method: method as 'GET',
      path: target,
      headers: { ...headers, ...options.headers },
      body,
    });
    const content = await received.body.text();
    const isJson = String(received.headers['content-type']).startsWith('application/json');
    const answer = {
      status: received.statusCode,
      headers: received.headers,
      body: content === '' ? undefined : isJson ? JSON.parse(content) : content,
    };
    const problems = problemsOf(method, target.split('?')[0] ?? '', answer);
    if (problems.length > 0) {
      throw new Error(
        `${method} ${target} answered ${answer.status} ${content.slice(0, 1000)}\n  ${problems.join('\n  ')}`,
      );
    }
    if (!mayPass(answer.status)) return answer;
    return unreadAnswer(answer, `${method} ${target} answered ${answer.status} ${content.slice(0, 1000)}`, unread);
  }

  return {
    request,
    get: (target: string, options?: RequestOptions) => request('GET', target, options),
    post: (target: string, options?: RequestOptions) => request('POST', target, options),
    put: (target: string, options?: RequestOptions) => request('PUT', target, options),
    patch: (target: string, options?: RequestOptions) => request('PATCH', target, options),
    delete: (target: string, options?: RequestOptions) => request('DELETE', target, options),
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}

const documentOf = (path: string): OpenApi => (/^\/(admin\/|metrics$|healthz$|readyz$)/.test(path) ? admin : api);

/** The differences between an answer and its documentation. */
export function problemsOf(method: string, path: string, answer: CheckedAnswer): string[] {
  const document = documentOf(path);
  const found = findPath(document, method, path);
  const operation = found && document.operations.get(`${method} ${found.template}`);
  if (!operation) return undocumented(method, found?.methods, answer);
  const response = operation.responses[String(answer.status)];
  if (!response) return [`the status ${answer.status} is not documented for ${operation.operationId}`];
  return [...headerProblems(response, answer), ...codeProblems(answer), ...bodyProblems(response, answer)];
}

/** An error must have a code of the table of errors, with the status of the answer. */
function codeProblems({ status, headers }: CheckedAnswer): string[] {
  if (status < 400) return [];
  const code = String(headers['lapel-error-code']);
  const row = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : undefined;
  return row?.status === status ? [] : [`Lapel-Error-Code ${code} is no error that is answered ${status}`];
}

function undocumented(method: string, methods: string[] | undefined, answer: CheckedAnswer): string[] {
  const problems = [...(answer.headers['x-request-id'] ? [] : ['there is no X-Request-Id']), ...codeProblems(answer)];
  if (answer.status === 405 && methods) {
    if (answer.headers['allow'] !== methods.join(', ')) problems.push(`Allow should be ${methods.join(', ')}`);
  } else if (answer.status !== 403 && answer.status !== 503) {
    problems.push('a path or method that is not documented should be answered 403 or 405');
  }
  if (method === 'HEAD') return problems;
  return [...problems, ...schemaProblems({ $ref: './common/message-error.json' }, answer.body)];
}

function headerProblems(response: Response, { headers }: CheckedAnswer): string[] {
  const problems: string[] = [];
  for (const [name, { required, schema }] of Object.entries(response.headers)) {
    const value = headers[name.toLowerCase()];
    if (required && value === undefined) problems.push(`the header ${name} is missing`);
    if (value !== undefined && schema.const !== undefined && value !== schema.const) {
      problems.push(`the header ${name} should be ${schema.const}`);
    }
  }
  return problems;
}

function bodyProblems({ content }: Response, { headers, body }: CheckedAnswer): string[] {
  if (!content) return body === undefined ? [] : ['there should be no body'];
  const type = String(headers['content-type']).split(';')[0] ?? '';
  const documented = content[type];
  if (!documented) return [`the content type ${type} is not documented`];
  return schemaProblems(documented.schema, body);
}

function schemaProblems(schema: Schema, body: unknown): string[] {
  if ('oneOf' in schema) {
    const each = schema.oneOf.map((one) => schemaProblems(one, body));
    return each.filter((problems) => problems.length === 0).length === 1 ? [] : each.flat();
  }
  if ('type' in schema) return typeof body === schema.type ? [] : [`the body should be a ${schema.type}`];
  return contracts
    .faults(schemaName(schema), body, 'body')
    .map(({ loc, msg }) => `${schemaName(schema)}: ${loc.join('.')}: ${msg}`);
}
