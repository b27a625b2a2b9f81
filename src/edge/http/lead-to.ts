import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Answer, Input } from './route.ts';

/** Leads a browser from `/` to a page. For everybody else `/` is no path of this service, as the interface says. */
export const leadTo =
  (page: string) =>
  async (_services: unknown, { headers }: Pick<Input, 'headers'>): Promise<Answer> => {
    if (!headers.accept?.includes('text/html')) throw new DomainError('WRONG_URL');
    return { status: 303, headers: { Location: page, 'Cache-Control': 'no-cache', Vary: 'Accept' } };
  };
