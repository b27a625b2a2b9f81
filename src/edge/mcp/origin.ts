import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Input } from '../http/route.ts';

/**
 * Refuses a request that a page of another origin sends through a browser: the name of that page may lead to this service
 * (DNS rebinding). Programs send no Origin. Throws CONSOLE_REQUEST_FORGED.
 */
export function checkOrigin({ headers, baseUrl }: Pick<Input, 'headers' | 'baseUrl'>): void {
  const { origin } = headers;
  if (origin !== undefined && origin !== URL.parse(baseUrl)?.origin) throw new DomainError('ORIGIN_FOREIGN');
}
