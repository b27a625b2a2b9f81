import { ownVersion } from '@lapel/schemas/base/version';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { FleetSummary, SchemaTypes } from '@lapel/schemas/contracts/types';
import { toUtc } from '../../runtime/clock.ts';
import { momentOf } from '../http/moment.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At } from './services.ts';

const utc = (micros: number | null): string | null => (micros === null ? null : toUtc(micros));
const milliseconds = (value: number | null): number | null => (value === null ? null : Math.round(value * 10) / 10);

type Services = Pick<AdminServices, 'figures' | 'history' | 'vitals'>;

/** Summarizes the fleet in a dozen numbers. */
export async function summaryOf({ figures, history, vitals }: Services): Promise<FleetSummary> {
  const { at, devices, transactions, deliveries, receivers } = await figures.summary();
  const delay = history.loopDelay();
  return {
    at: toUtc(at),
    devices,
    transactions: { unfinished: transactions.unfinished, oldestAt: utc(transactions.oldestAt) },
    deliveries: { pending: deliveries.pending, oldestDueAt: utc(deliveries.oldestDueAt) },
    receivers,
    commitP99Ms: milliseconds(vitals.commitP99()),
    loopP99Ms: delay === null ? null : milliseconds(delay / 1000),
    nodes: vitals.nodes(),
    version: ownVersion(),
  };
}

export const readSummary = async (services: Services): Promise<Answer> => ({
  status: 200,
  body: await summaryOf(services),
});

/** Counts the devices of each group, such as each firmware version. */
export async function readBreakdown(
  { figures }: Services,
  { query }: At<never, never, 'admin/fleet-breakdown-query'>,
): Promise<Answer> {
  const { by, package: name } = query;
  const fault = (msg: string, type: 'missing' | 'extra_forbidden') =>
    DomainError.invalid({ loc: ['query', 'package'], msg, type });
  if (by === 'version' && name === undefined) throw fault('Field required', 'missing');
  if (by !== 'version' && name !== undefined) throw fault('Extra inputs are not permitted', 'extra_forbidden');
  const { at, groups, others } = await figures.breakdown(by, name);
  const body: SchemaTypes['admin/fleet-breakdown'] = { by, at: toUtc(at), groups, others };
  return { status: 200, body };
}

/** Lists the figures over time. */
export async function readHistory(
  { history }: Services,
  { query }: At<never, never, 'admin/fleet-history-query'>,
): Promise<Answer> {
  const { stepSeconds, points } = await history.list(momentOf(query, 'since') ?? 0, query.step);
  const body: SchemaTypes['admin/fleet-history'] = {
    stepSeconds,
    points: points.map(({ at, oldestDue, failing, loopDelay, ...point }) => ({
      ...point,
      at: toUtc(at),
      oldestDueSeconds: Math.round(oldestDue / 1_000_000),
      failingReceivers: failing,
      loopP99Ms: loopDelay === null ? null : milliseconds(loopDelay / 1000),
    })),
  };
  return { status: 200, body };
}
