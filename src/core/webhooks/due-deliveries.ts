import type { Sql, SqlValue, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import { type Delivery, type EndpointId, isEndpoint, type Outcome, type ReceiverName } from './delivery.ts';
import { dueOfSettings as ofSettings } from './delivery-repository.ts';
import type { PulledBack } from './due-rows.ts';

type Receiving<Name> = Omit<ReceiverName, 'setting'> & { setting: Name };
type Pending<Name> = Receiving<Name> & { nextAttemptAt: number };
type OutcomeFor<Name> = Outcome & { setting: Name };

/** The rows of deliveries to one kind of receivers. */
export interface DeliveryRows<Name> {
  findDue(sql: Sql, receiver: Receiving<Name>, now: Micros, limit: number): Promise<Delivery[]>;
  /** Like `findDue`, without the deliveries that are in memory; PostgreSQL only. */
  findOtherDue(
    sql: Sql,
    receiver: Receiving<Name>,
    held: ReadonlyMap<string, number>,
    page: { now: Micros; limit: number },
  ): Promise<Delivery[]>;
  findNextDue(sql: Sql, receiver: Receiving<Name>, now: Micros): Promise<number | undefined>;
  findNextReceiver(sql: Sql, after: { applicationId: string; setting: string }): Promise<Pending<Name> | undefined>;
  /** PostgreSQL only. */
  findReceivers(sql: Sql): Promise<Pending<Name>[]>;
  saveOutcome(unit: UnitOfWork, outcome: OutcomeFor<Name>, stored: (counts: boolean) => void): void;
  isPutOff(sql: Sql, latest: Micros): Promise<boolean>;
  pullDown(sql: Sql, now: Micros, latest: Micros): Promise<number>;
  pullBack(
    sql: Sql,
    which: PulledBack,
    after: readonly SqlValue[] | undefined,
    limit: number,
  ): Promise<{ pulled: number; last: SqlValue[] | undefined }>;
}

const isForEndpoint = <Row extends ReceiverName>(row: Row): row is Row & { setting: EndpointId } =>
  isEndpoint(row.setting);

export interface DueDeliveries extends Omit<DeliveryRows<ReceiverName['setting']>, 'pullBack'> {
  /** The functions that move deliveries of a later time, one for each kind of receivers. */
  pullsBack: readonly DeliveryRows<never>['pullBack'][];
}

/** The deliveries of all receivers: those to the URLs of settings, and those to endpoints, which have a table of their own. */
export function createDueDeliveries(ofEndpoints: DeliveryRows<EndpointId>): DueDeliveries {
  const rowsOf = (receiver: ReceiverName): DeliveryRows<ReceiverName['setting']> =>
    (isForEndpoint(receiver) ? ofEndpoints : ofSettings) as DeliveryRows<ReceiverName['setting']>;
  return {
    findDue: (sql, receiver, ...rest) => rowsOf(receiver).findDue(sql, receiver, ...rest),
    findOtherDue: (sql, receiver, ...rest) => rowsOf(receiver).findOtherDue(sql, receiver, ...rest),
    findNextDue: (sql, receiver, ...rest) => rowsOf(receiver).findNextDue(sql, receiver, ...rest),
    saveOutcome: (unit, outcome, stored) => rowsOf(outcome).saveOutcome(unit, outcome, stored),
    /** All those of settings come before those of endpoints. */
    async findNextReceiver(sql, after) {
      if (isEndpoint(after.setting)) return ofEndpoints.findNextReceiver(sql, after);
      const found = await ofSettings.findNextReceiver(sql, after);
      return found ?? ofEndpoints.findNextReceiver(sql, { applicationId: '', setting: '' });
    },
    findReceivers: async (sql) =>
      (await Promise.all([ofSettings.findReceivers(sql), ofEndpoints.findReceivers(sql)])).flat(),
    isPutOff: async (sql, latest) =>
      (await ofSettings.isPutOff(sql, latest)) || (await ofEndpoints.isPutOff(sql, latest)),
    pullsBack: [ofSettings.pullBack, ofEndpoints.pullBack],
    pullDown: async (sql, now, latest) =>
      (await ofSettings.pullDown(sql, now, latest)) + (await ofEndpoints.pullDown(sql, now, latest)),
  };
}
