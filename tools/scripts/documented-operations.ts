import { readFileSync } from 'node:fs';
import type { SchemaName } from '@lapel/schemas/contracts/contracts';
import { parse } from 'yaml';
import { ROUTES as ADMIN_ROUTES } from '../../src/edge/admin/routes.ts';
import { ROUTES as API_ROUTES } from '../../src/edge/api/routes.ts';

export interface Documented {
  summary: string;
  'x-specification-row'?: string;
  responses: Record<
    string,
    { headers?: Record<string, unknown>; content?: Record<string, { schema: { $ref?: string } }> }
  >;
  parameters?: { $ref?: string }[];
}

export interface Route {
  name: string;
  method: string;
  path: string;
  scope: string | null;
  head?: true;
  body?: SchemaName;
  bodyOptional?: true;
  query?: SchemaName;
}

/** The parameters of paths that are numbers. */
export const NUMBERS: ReadonlySet<string> = new Set(['transactionId', 'sequence']);

const document = (name: string): Record<string, Record<string, Documented>> =>
  (
    parse(readFileSync(new URL(`../../schemas/${name}`, import.meta.url), 'utf8')) as {
      paths: Record<string, Record<string, Documented>>;
    }
  ).paths;
export const API = { routes: API_ROUTES as readonly Route[], paths: document('openapi.yaml') };
export const ADMINISTRATION = { routes: ADMIN_ROUTES as readonly Route[], paths: document('openapi-admin.yaml') };

/** The routes that need a token, each with its description in the OpenAPI document. Throws when two have one name. */
export function operationsOf({ routes, paths }: typeof API): { route: Route; documented: Documented }[] {
  const names = new Set<string>();
  return routes
    .filter(({ scope }) => scope !== null)
    .map((route) => {
      const documented = paths[route.path]?.[route.method.toLowerCase()];
      if (!documented) throw new Error(`${route.method} ${route.path} is not documented`);
      if (!/^[a-z]\w+$/.test(route.name) || names.has(route.name))
        throw new Error(`${route.method} ${route.path}: "${route.name}" is not a unique name; give it one (\`name\`)`);
      names.add(route.name);
      return { route, documented };
    });
}

/** Whether the answer of a route is a stream of events, which the typed client does not serve. */
export const isStream = ({ documented }: { documented: Documented }): boolean =>
  documented.responses['200']?.content?.['text/event-stream'] !== undefined;

/** The schema of the answer to a success; undefined without a body. */
export function answerOf({ responses }: Documented): string | undefined {
  const all = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  // Beside 201, 200 answers a dry run, whose callers say so.
  const good = all.find(([status]) => status === '201') ?? all[0];
  return good?.[1].content?.['application/json']?.schema.$ref;
}
