import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { rolloutDevicesCsv } from '../../views/rollout-devices.ts';
import type { RolloutViews } from '../../views/rollouts.ts';
import { nextPageAfter } from './paging.ts';
import type { Answer, Input } from './route.ts';

/** Whether a caller prefers CSV: its `Accept` names text/csv. */
const wantsCsv = (accept: string | undefined): boolean => /(^|[,\s])text\/csv\b/.test(accept ?? '');

/**
 * Answers with a page of the devices of a rollout, as JSON, or as CSV if the caller asks for it. Throws REQUEST_INVALID for
 * a code without a state, because only devices of a state are told apart by their codes.
 */
export async function rolloutDevicesAnswer(
  views: Pick<RolloutViews, 'devices'>,
  rolloutId: string,
  input: Pick<
    Input<unknown, unknown, SchemaTypes['rest/rollout-device-query']>,
    'query' | 'headers' | 'baseUrl' | 'target'
  >,
): Promise<Answer> {
  const { query } = input;
  if (query.code !== undefined && query.state === undefined)
    throw DomainError.invalid({ loc: ['query', 'state'], msg: 'Field required beside code', type: 'missing' });
  const { rows, next } = await views.devices(rolloutId, query);
  const headers = next === undefined ? {} : nextPageAfter(input, query, { after: next });
  if (!wantsCsv(input.headers.accept)) return { status: 200, headers, body: { devices: rows } };
  return {
    status: 200,
    headers: { ...headers, 'Content-Type': 'text/csv; charset=utf-8' },
    body: rolloutDevicesCsv(rows),
  };
}
