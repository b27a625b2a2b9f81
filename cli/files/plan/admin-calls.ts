import type { AdminOperations } from '@lapel/client/admin-operations';
import { adminRequest } from '@lapel/client/admin-request';
import type { Administration } from '../../account/access.ts';
import { isNotFound, tagOf } from './conflict.ts';

type Name = keyof AdminOperations;
type Input<N extends Name> = AdminOperations[N]['input'];
type Answer<N extends Name> = AdminOperations[N]['answer'];

/** The reads whose answers have an entity tag. */
const TAGGED: ReadonlySet<Name> = new Set<Name>(['readDeveloper', 'readPerson']);
/** The most rows of a page. */
const PAGE = 1000;

/** Calls operations of administration. Throws a Failure that names the action (`what`). */
export interface AdminCalls {
  call<N extends Name>(what: string, name: N, input: Input<N>, ifMatch?: string): Promise<Answer<N>>;
  /** Reads an object with its entity tag, '' if its kind has none; undefined when it is not there. */
  find<N extends Name>(what: string, name: N, input: Input<N>): Promise<{ answer: Answer<N>; tag: string } | undefined>;
  /** Reads a list to its end. `member` contains the rows. */
  all<N extends Name, Member extends keyof Answer<N>>(
    what: string,
    name: N,
    input: Input<N>,
    member: Member,
  ): Promise<Answer<N>[Member]>;
}

export function adminCalls({ page }: Administration): AdminCalls {
  return {
    call: async (what, name, input, ifMatch) =>
      (await page(what, { ...adminRequest(name, input), ifMatch })).body as never,
    async find(what, name, input) {
      try {
        const { body, tag } = await page(what, adminRequest(name, input));
        return { answer: body as never, tag: TAGGED.has(name) ? tagOf(`the request to ${what}`, tag) : '' };
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    async all(what, name, input, member) {
      const rows: unknown[] = [];
      const request = adminRequest(name, input);
      let query = { limit: PAGE, ...request.query } as NonNullable<typeof request.query> | undefined;
      while (query) {
        const { body, next } = await page(what, { ...request, query });
        rows.push(...((body as Record<PropertyKey, unknown[]>)[member as string] ?? []));
        query = next;
      }
      return rows as never;
    },
  };
}
