import { Failure } from '../../show/failure.ts';

/** Thrown when a step found another state than the plan has seen. Nothing of the object was changed. */
export class Conflict extends Failure {
  constructor(reason = 'it was changed after the plan had read it') {
    super(`${reason}; nothing of it was changed`, { advice: ['lapel plan shows what is left to do'] });
  }
}

const statusOf = (error: unknown): number | undefined => (error instanceof Failure ? error.refusal?.status : undefined);
const codeOf = (error: unknown): string | null | undefined =>
  error instanceof Failure ? error.refusal?.code : undefined;

export const isNotFound = (error: unknown): boolean => statusOf(error) === 404;

/**
 * The entity tag of an answer, for `If-Match`. Without one, a change by somebody else would be overwritten unseen. A
 * proxy that compresses answers makes their tags weak; the service knows the strong one only. Throws a Failure.
 */
export function tagOf(what: string, tag: string | undefined): string {
  if (tag === undefined)
    throw new Failure(`the answer of ${what} has no ETag, so a change could overwrite another one`, {
      advice: ['does a proxy before the service take the header ETag away?'],
    });
  return tag.replace(/^W\//, '');
}

/**
 * Makes a change with `If-Match`. When it is refused, the object may be as wanted all the same: a change whose answer was
 * lost is sent again, and then the object is not what the plan has seen, but what the plan wants.
 */
export async function changeSeen(change: () => Promise<unknown>, isDone: () => Promise<boolean>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (codeOf(error) !== 'PRECONDITION_FAILED' && !isNotFound(error)) throw error;
    if (await isDone()) return;
    throw new Conflict(isNotFound(error) ? 'it was removed after the plan had read it' : undefined);
  }
}

/** Makes a change without `If-Match`: the state is read again right before, and compared with what the plan has seen. */
export async function changeRead({
  seen,
  read,
  change,
}: {
  seen: string;
  read: () => Promise<string>;
  change: () => Promise<unknown>;
}): Promise<void> {
  if ((await read()) !== seen) throw new Conflict();
  await change();
}
