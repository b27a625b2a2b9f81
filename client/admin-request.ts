import { ADMIN_OPERATIONS, type AdminOperations } from './admin-operations.ts';
import { fillPath } from './fill-path.ts';
import type { Request } from './transport.ts';

/** The request of an operation of administration: its method and path, with its query and body if it has them. */
export function adminRequest<Name extends keyof AdminOperations>(
  name: Name,
  input: AdminOperations[Name]['input'],
): Pick<Request, 'method' | 'path' | 'query' | 'body'> {
  const { method, path } = ADMIN_OPERATIONS[name];
  const { query, body, ...parameters } = input as Pick<Request, 'query' | 'body'> & Record<string, never>;
  return { method, path: fillPath(path, parameters), query, body };
}
