import { addressOf, ROLE } from './place.ts';
import { operation, read } from './requests.ts';
import type { FoundThing } from './rows.ts';

/** The page of something that was found. */
export const placeOf = ({ kind, id, parent }: FoundThing): string => {
  if (kind === 'device') return addressOf(['devices', id]);
  if (kind === 'transaction') return addressOf(['transactions', id]);
  if (kind === 'delivery') return addressOf(['webhooks', parent ?? '', id]);
  if (kind === 'application') return addressOf(['applications', id]);
  if (kind === 'developer') return addressOf(['developers', id]);
  return addressOf(['software', id], { line: parent === 'firmware' ? parent : undefined });
};

const DEVICE_ID = /^\d{15}$/;
const TRANSACTION_ID = /^\d{1,16}$/;

/**
 * Finds by the beginning of an identifier, or by name. An application has no search; it finds what is named in full.
 */
export async function find(text: string, signal: AbortSignal): Promise<FoundThing[]> {
  if (ROLE === 'operator')
    return (await read<{ results: FoundThing[] }>(operation('search'), { query: { q: text }, signal })).results;
  if (DEVICE_ID.test(text)) return [{ kind: 'device', id: text, parent: null }];
  return TRANSACTION_ID.test(text) ? [{ kind: 'transaction', id: text, parent: null }] : [];
}
