import { DomainError } from '@lapel/schemas/contracts/errors';
import type { DeviceVersions, Warning } from '../core/transactions/firmware-warning.ts';
import { firmwareWarning, needsFirmware } from '../core/transactions/firmware-warning.ts';
import { NEED_FIRMWARE } from '../core/transactions/operations.ts';
import { isFinished } from '../core/transactions/transaction.ts';
import type { TransactionSummary } from '../core/transactions/transaction-record.ts';
import {
  findParameters,
  findTransaction,
  type TransactionRecord,
} from '../core/transactions/transaction-repository.ts';
import type { DeliverySummary } from '../core/webhooks/log/delivery-record.ts';
import type { Database } from '../platform/database/sql.ts';
import { type Page, pageOf } from '../runtime/page.ts';
import type { Micros } from '../runtime/units.ts';
import { findDeliverySummary } from './delivery-repository.ts';
import { examineFailures, type FailurePlace, timeOf } from './failures-repository.ts';
import { isByEnd, type OverviewFilter } from './transaction-conditions.ts';
import {
  firstFrom,
  lastNumberBefore,
  transactionNumbers,
  transactionsBetween,
  transactionsByNumber,
  transactionsOfDevice,
  transactionsOfRollout,
  unfinishedTransactions,
} from './transactions-repository.ts';

export interface OverviewQuery extends OverviewFilter {
  /** True to list only unfinished transactions, false to list all. */
  unfinished: boolean;
  /** Without it, unfinished transactions come oldest first, all others newest first. Failures come by their ends alone. */
  oldestFirst?: boolean;
  /**
   * True to list only the unfinished transactions that their device will not answer, because its firmware is too old.
   */
  warning: boolean;
  /** The last transactionId of the page before. */
  after?: number;
  limit: number;
}

/** The failures that one query examines for a page, and the most queries for a page. */
const FIRST_FAILURES = 500;
const FAILURES = 5_000;
const FAILURE_STEPS = 4;
/** Transactions are created nearly in the order of their ids: nodes differ by less than this many microseconds. */
const CLOCK_SKEW = 60_000_000;

export interface Listed<Row extends TransactionSummary = TransactionSummary> {
  record: Row;
  warning: Warning | null;
}

/** A transaction with its parameters and its webhook. */
export interface Detailed extends Listed<TransactionRecord> {
  /** The parameters of the command; null after the transaction has ended. */
  parameters: object | null;
  webhook: DeliverySummary | undefined;
}

interface Parts {
  database: Pick<Database, 'read' | 'aside'>;
  /** The versions that the devices last reported. A device that has reported none may be missing. */
  versionsOf(deviceIds: readonly string[]): Promise<ReadonlyMap<string, DeviceVersions>>;
}

/**
 * The transactionIds that one query goes through, and the most queries for a page. When few rows match, a page ends
 * after these queries, although it is not full.
 */
const NUMBERS = 100_000;
const STEPS = 5;
/** The most unfinished transactions that are checked for warnings for one page, and the number that one query reads. */
const MOST_CHECKED = 5_000;
const CHECKED_PER_QUERY = 2_500;

type Ordered = OverviewQuery & { oldestFirst: boolean };

const UNKNOWN: DeviceVersions = { firmware: null, managementClient: null };

export type Overview = ReturnType<typeof createOverview>;

/** Lists and finds transactions of all devices and applications. */
export function createOverview({ database: { read, aside }, versionsOf }: Parts) {
  async function withWarnings<Row extends TransactionSummary>(records: readonly Row[]): Promise<Listed<Row>[]> {
    const deviceIds = new Set(records.filter(needsFirmware).map(({ deviceId }) => deviceId));
    const versions = deviceIds.size === 0 ? undefined : await versionsOf([...deviceIds]);
    return records.map((record) => ({
      record,
      warning: firmwareWarning(record, versions?.get(record.deviceId) ?? UNKNOWN),
    }));
  }

  const placeOf = ({ record }: Listed): number => record.transactionId;

  async function listWarned(query: Ordered): Promise<Page<Listed, number>> {
    const { limit } = query;
    const operations = NEED_FIRMWARE.filter((operation) => query.operations?.includes(operation) ?? true);
    if (operations.length === 0) return { rows: [], next: undefined };
    const kept: Listed[] = [];
    let { after } = query;
    for (let looked = 0; looked < MOST_CHECKED; looked += CHECKED_PER_QUERY) {
      const page = { after, limit: CHECKED_PER_QUERY, newestFirst: !query.oldestFirst };
      const batch = await withWarnings(await unfinishedTransactions(aside, { ...query, operations }, page));
      kept.push(...batch.filter(({ warning }) => warning !== null));
      if (kept.length > limit || batch.length < CHECKED_PER_QUERY) return pageOf(kept, limit, placeOf);
      after = batch.at(-1)?.record.transactionId;
    }
    return { rows: kept, next: after };
  }

  /**
   * Reads backwards from the newest transaction in steps of NUMBERS. So no query takes long, even if hardly any row
   * matches.
   */
  async function listNewest({ after, limit, ...filter }: OverviewQuery): Promise<Page<Listed, number>> {
    const { first, last } = await transactionNumbers(aside);
    if (first === null || last === null) return { rows: [], next: undefined };
    const found: TransactionSummary[] = [];
    let before = Math.min(after ?? last + 1, last + 1);
    for (let step = 0; step < STEPS && before > first; step += 1) {
      const from = Math.max(first, before - NUMBERS);
      found.push(...(await transactionsBetween(aside, filter, { from, before, limit: limit + 1 - found.length })));
      if (found.length > limit) return pageOf(await withWarnings(found), limit, placeOf);
      // TransactionIds have large gaps, because each start of the service raises the next one above the clock. A gap is
      // skipped.
      before = ((await lastNumberBefore(aside, from)) ?? first - 1) + 1;
      const { createdSince } = filter;
      if (createdSince === undefined || before <= first) continue;
      const reached = await timeOf(aside, before - 1, 'created_at');
      if (reached !== undefined && reached < createdSince - CLOCK_SKEW) before = first; // no earlier one can match
    }
    return { rows: await withWarnings(found), next: before > first ? before : undefined };
  }

  /**
   * The lowest transactionId from which on transactions may have been created since a time. It halves the numbers, and so
   * reads 50 rows at most.
   */
  async function numberAt(since: Micros, first: number, last: number): Promise<number> {
    let [low, high] = [first, last];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const found = await firstFrom(aside, middle);
      if (found && found.createdAt < since - CLOCK_SKEW) low = found.transactionId + 1;
      else high = middle;
    }
    return low;
  }

  /** Like `listNewest`, from the oldest transaction on. */
  async function listOldest({ after, limit, ...filter }: OverviewQuery): Promise<Page<Listed, number>> {
    const { first, last } = await transactionNumbers(aside);
    if (first === null || last === null) return { rows: [], next: undefined };
    const { createdSince, createdBefore } = filter;
    const found: TransactionSummary[] = [];
    const begin = createdSince === undefined || after !== undefined ? first : await numberAt(createdSince, first, last);
    let from = Math.max(begin, (after ?? 0) + 1);
    for (let step = 0; step < STEPS && from <= last; step += 1) {
      const page = { from, before: from + NUMBERS, limit: limit + 1 - found.length, oldestFirst: true };
      found.push(...(await transactionsBetween(aside, filter, page)));
      if (found.length > limit) return pageOf(await withWarnings(found), limit, placeOf);
      const next = await firstFrom(aside, from + NUMBERS);
      const isPast = next && createdBefore !== undefined && next.createdAt >= createdBefore + CLOCK_SKEW;
      from = next && !isPast ? next.transactionId : last + 1; // no later one can match
    }
    return { rows: await withWarnings(found), next: from <= last ? from - 1 : undefined };
  }

  async function listOfDevice(deviceId: string, { after, limit, ...filter }: Ordered): Promise<Page<Listed, number>> {
    const { oldestFirst } = filter;
    const page = { offset: 0, limit, oldestFirst, ...(after !== undefined && { after }) };
    const { deviceId: _, ...rest } = filter;
    const { rows, next } = await transactionsOfDevice(aside, deviceId, rest, page);
    return { rows: await withWarnings(rows), next: next && Number(next.after) };
  }

  async function listOfRollout(query: Ordered & { rolloutId: string }): Promise<Page<Listed, number>> {
    const { after, limit, unfinished, warning, oldestFirst, ...filter } = query;
    const page = { after, limit: limit + 1, unfinished, oldestFirst };
    const found = pageOf(await withWarnings(await transactionsOfRollout(aside, filter, page)), limit, placeOf);
    return warning ? { ...found, rows: found.rows.filter((one) => one.warning !== null) } : found;
  }

  /** Lists transactions that ended with an error, the last failure first. */
  async function listFailures({ after, limit, ...filter }: OverviewQuery): Promise<Page<Listed, number>> {
    let place: FailurePlace = { at: Number.MAX_SAFE_INTEGER, transactionId: Number.MAX_SAFE_INTEGER };
    if (after !== undefined) {
      const at = await timeOf(aside, after, 'completed_at');
      // The oldest failures are removed first: when the last one of a page is gone, all behind it are, or soon will be.
      if (at === undefined) return { rows: [], next: undefined };
      place = { at, transactionId: after };
    }
    const until = (filter.endedBefore ?? Number.MAX_SAFE_INTEGER) - 1;
    if (until < place.at) place = { at: until, transactionId: Number.MAX_SAFE_INTEGER };
    const found: number[] = [];
    let isWhole = false;
    for (let step = 0; step < FAILURE_STEPS && found.length <= limit && !isWhole; step += 1) {
      // Most pages are full soon: few rows are examined first.
      const most = step === 0 ? Math.max(FIRST_FAILURES, limit + 1) : FAILURES;
      const rows = await examineFailures(aside, filter, place, most);
      found.push(...rows.filter(({ hit }) => hit === 1).map(({ transactionId }) => transactionId));
      place = rows.at(-1) ?? place;
      isWhole = rows.length < most;
    }
    const shown = found.slice(0, limit);
    const rows = await transactionsByNumber(aside, shown);
    const at = new Map(shown.map((transactionId, index) => [transactionId, index]));
    const sorted = rows.toSorted((a, b) => (at.get(a.transactionId) ?? 0) - (at.get(b.transactionId) ?? 0));
    const next = found.length > limit ? shown.at(-1) : isWhole ? undefined : place.transactionId;
    return { rows: await withWarnings(sorted), next };
  }

  return {
    /** Lists a page. It can be shorter than its limit, even empty, although further pages follow. */
    async list(wanted: OverviewQuery): Promise<Page<Listed, number>> {
      const { unfinished, warning, status, deviceId, after, limit, oldestFirst = unfinished } = wanted;
      const query = { ...wanted, oldestFirst };
      if (unfinished && status !== undefined && isFinished(status)) return { rows: [], next: undefined };
      if (query.rolloutId !== undefined) return listOfRollout({ ...query, rolloutId: query.rolloutId });
      if (warning) return listWarned(query);
      if (isByEnd(query)) return listFailures(query);
      if (unfinished || (status !== undefined && !isFinished(status))) {
        const page = { after, limit: limit + 1, newestFirst: !oldestFirst };
        return pageOf(await withWarnings(await unfinishedTransactions(aside, query, page)), limit, placeOf);
      }
      if (deviceId !== undefined) return listOfDevice(deviceId, query);
      return oldestFirst ? listOldest(query) : listNewest(query);
    },

    /** Reads the given transactions in their current state; a transactionId that does not exist is left out. */
    some: async (transactionIds: readonly number[]): Promise<Listed[]> =>
      withWarnings(await transactionsByNumber(aside, transactionIds)),

    /** Finds a transaction with its parameters and webhook. Throws TRANSACTION_NOT_FOUND. */
    async find(transactionId: number): Promise<Detailed> {
      const record = await findTransaction(read, transactionId);
      if (!record) throw new DomainError('TRANSACTION_NOT_FOUND');
      const [listed] = await withWarnings([record]);
      const parameters = record.completedAt === null ? await findParameters(read, transactionId) : null;
      const { applicationId, deliveryId } = record;
      const webhook = deliveryId === null ? undefined : await findDeliverySummary(read, applicationId, deliveryId);
      return { ...(listed as Listed<TransactionRecord>), parameters, webhook };
    },
  };
}
