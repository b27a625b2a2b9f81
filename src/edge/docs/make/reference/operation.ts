import type { ApiDocument, Json } from '@lapel/schemas/contracts/api-document';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  example?: unknown;
  schema: object;
}

interface Media {
  schema?: object;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

/** An answer of an operation. */
export interface Answer {
  status: string;
  description: string;
  headers: Record<string, { description?: string }>;
  /** The media type of the body; undefined without a body. */
  type?: string;
  schema?: object;
  examples: unknown[];
  /** The name of an answer that several operations share; undefined for one of this operation alone. */
  shared?: string;
}

/** An operation of the OpenAPI document, without references to parameters and answers. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  tag: string;
  summary: string;
  description: string;
  /** The scope that its token needs, '' when any token will do; null when it needs no token. */
  scope: string | null;
  parameters: Parameter[];
  body?: { type: string; required: boolean; schema: object; example: unknown };
  answers: Answer[];
}

/** The part of the document that a `$ref` names; a part without one is returned as it is. */
export function target<Part extends object>(document: ApiDocument, part: Part): Part {
  const [, section = '', name = ''] =
    /^#\/components\/([^/]+)\/(.+)$/.exec((part as { $ref?: string }).$ref ?? '') ?? [];
  return section === '' ? part : (document.components[section]![name] as Part);
}

/** The examples of a body, the single one or all of the named ones. */
function examplesOf({ example, examples }: Media): unknown[] {
  if (example !== undefined) return [example];
  return Object.values(examples ?? {}).map(({ value }) => value);
}

interface Documented extends Json {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses: Record<string, { $ref?: string; description: string; headers?: object; content?: Record<string, Media> }>;
}

function answerOf(document: ApiDocument, status: string, response: Documented['responses'][string]): Answer {
  const { description, headers = {}, content = {} } = target(document, response);
  const [[type, media] = []] = Object.entries(content);
  const all = Object.entries(headers as Record<string, { description?: string }>);
  return {
    status,
    description,
    headers: Object.fromEntries(all.map(([name, header]) => [name, target(document, header)])),
    ...(type !== undefined && { type }),
    ...(media?.schema && { schema: media.schema }),
    examples: media ? examplesOf(media) : [],
    ...(response.$ref !== undefined && { shared: response.$ref.split('/').at(-1)! }),
  };
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

function bodyOf(requestBody: Documented['requestBody']): Operation['body'] {
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {});
  if (type === undefined || !media?.schema) return undefined;
  return { type, required: requestBody?.required === true, schema: media.schema, example: examplesOf(media)[0] };
}

/** The scope of a token that an operation needs: '' for any, null for no such token. */
const scopeOf = (scopes: readonly string[] | undefined): string | null => (scopes ? (scopes[0] ?? '') : null);

/** All operations of the OpenAPI document, in its order. */
export function operationsOf(document: ApiDocument): Operation[] {
  const paths = document['paths'] as Record<string, Record<string, Documented> & { parameters?: Parameter[] }>;
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => {
      const documented = item[method]!;
      const body = bodyOf(documented.requestBody);
      return {
        id: documented.operationId,
        method: method.toUpperCase(),
        path,
        tag: documented.tags[0] ?? '',
        summary: documented.summary,
        description: documented.description ?? '',
        scope: scopeOf(documented.security[0]?.['applicationToken']),
        parameters: [...(item.parameters ?? []), ...(documented.parameters ?? [])].map((one) => target(document, one)),
        ...(body && { body }),
        answers: Object.entries(documented.responses).map(([status, one]) => answerOf(document, status, one)),
      };
    }),
  );
}
