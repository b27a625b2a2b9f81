import type { RolloutDeviceList } from '@lapel/schemas/contracts/types';
import { findInState, findMembers, type Member, statusesOf } from '../core/rollouts/member-repository.ts';
import type { MemberState } from '../core/rollouts/rollout.ts';
import type { Sql } from '../platform/database/sql.ts';
import { toUtc } from '../runtime/clock.ts';
import { type Page, pageOf } from '../runtime/page.ts';

type DeviceRow = RolloutDeviceList['devices'][number];

interface Query {
  state?: MemberState;
  code?: string;
  /** A deviceId, or with `state` a place: STAGE.PLACE. */
  after?: string;
  limit: number;
}

function placeOf(after: string | undefined): { stage: number; place: number } {
  const [stage, place] = (after ?? '').split('.');
  return place === undefined ? { stage: -1, place: -1 } : { stage: Number(stage), place: Number(place) };
}

/** A page of the devices of a rollout, with the status of their transactions. */
export async function rolloutDevices(
  sql: Sql,
  rolloutId: string,
  { state, code, after, limit }: Query,
): Promise<Page<DeviceRow, string>> {
  const found: Member[] =
    state === undefined
      ? await findMembers(sql, rolloutId, after ?? '', limit + 1)
      : await findInState(sql, rolloutId, { state, code, after: placeOf(after), limit: limit + 1 });
  const { rows, next } = pageOf(found, limit, ({ deviceId, stage, place }) =>
    state === undefined ? deviceId : `${stage}.${place}`,
  );
  const statuses = await statusesOf(
    sql,
    rows.flatMap(({ transactionId }) => transactionId ?? []),
  );
  return {
    rows: rows.map((member) => ({
      deviceId: member.deviceId,
      stage: member.stage + 1,
      state: member.state,
      status: (member.transactionId !== null && statuses.get(member.transactionId)?.status) || null,
      transactionId: member.transactionId,
      attempts: member.attempts,
      code: member.code,
      updatedAt: toUtc(member.updatedAt),
    })),
    next,
  };
}

const COLUMNS = ['deviceId', 'stage', 'state', 'status', 'transactionId', 'attempts', 'code', 'updatedAt'] as const;

/** A value in a CSV file (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe before it. */
function cell(value: string | number | null): string {
  const text = value === null ? '' : String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Writes a page as CSV, with a line of names before it. */
export const rolloutDevicesCsv = (rows: readonly DeviceRow[]): string =>
  [COLUMNS.join(','), ...rows.map((row) => COLUMNS.map((name) => cell(row[name])).join(','))]
    .map((line) => `${line}\r\n`)
    .join('');
