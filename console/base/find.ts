import { searchOwn } from './own-search.ts';
import { addressOf, ROLE } from './place.ts';
import { operation, read } from './requests.ts';
import type { FoundThing } from './rows.ts';
import { session } from './session.ts';

/** The page of something that was found. */
export const placeOf = ({ kind, id, parent }: FoundThing): string => {
  if (kind === 'device') return addressOf(['devices', id]);
  if (kind === 'transaction') return addressOf(['transactions', id]);
  if (kind === 'delivery') return addressOf(['webhooks', parent ?? '', id]);
  if (kind === 'application') return addressOf(['applications', id]);
  if (kind === 'developer') return addressOf(['developers', id]);
  return addressOf(['software', id], { line: parent === 'firmware' ? parent : undefined });
};

/** Finds by the beginning of an identifier, or by name. An application finds its own objects. */
export async function find(text: string, signal: AbortSignal): Promise<FoundThing[]> {
  if (ROLE === 'application') return searchOwn(text, session.peek()?.applicationId ?? '', signal);
  return (await read<{ results: FoundThing[] }>(operation('search'), { query: { q: text }, signal })).results;
}
