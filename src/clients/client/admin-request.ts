import { ADMIN_OPERATIONS, type AdminOperations } from './admin-operations.ts';
import type { Request } from './transport.ts';

/** Fills the `{parameters}` of a path in, encoded. A parameter without a value becomes empty. */
export const fillPath = (path: string, values: Readonly<Record<string, string | number | undefined>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));

/** The request of an operation of administration: its method and path, with its query and body if it has them. */
export function adminRequest<Name extends keyof AdminOperations>(
  name: Name,
  input: AdminOperations[Name]['input'],
): Pick<Request, 'method' | 'path' | 'query' | 'body'> {
  const { method, path } = ADMIN_OPERATIONS[name];
  const { query, body, ...parameters } = input as Pick<Request, 'query' | 'body'> & Record<string, never>;
  return { method, path: fillPath(path, parameters), query, body };
}
