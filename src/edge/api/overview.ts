import { DomainError } from '@lapel/schemas/contracts/errors';
import type {
  OwnDeviceQuery,
  OwnInstallationQuery,
  OwnTransactionQuery,
  SchemaTypes,
} from '@lapel/schemas/contracts/types';
import type { Application } from '../../core/applications/application-repository.ts';
import { toUtc } from '../../runtime/clock.ts';
import { cursorOf, deviceRow, readFleetQuery } from '../../views/device-row.ts';
import { installationBody } from '../../views/installation-body.ts';
import { transactionDetail } from '../../views/transaction-detail.ts';
import { readOverviewQuery } from '../../views/transaction-query.ts';
import { transactionRow } from '../../views/transaction-row.ts';
import { JsonSlices, lazily } from '../http/json-slices.ts';
import { periodOf } from '../http/moment.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer, Input } from '../http/route.ts';
import type { ApiServices } from './services.ts';

type Services = Pick<ApiServices, 'fleet' | 'ownFleet' | 'clock' | 'overview' | 'software' | 'installations'>;

type Own<Params, Query = unknown> = Input<{ applicationId: string } & Params, unknown, Query, Application>;

/** Summarizes the devices and the commands of the application. */
export async function readFleet({ ownFleet }: Services, { params }: Own<unknown>): Promise<Answer> {
  const { at, commands, ...found } = await ownFleet(params.applicationId);
  const body: SchemaTypes['rest/own-fleet'] = {
    at: toUtc(at),
    ...found,
    commands: { ...commands, failedSince: toUtc(commands.failedSince) },
  };
  return { status: 200, body };
}

/** Lists the devices that are activated, or being activated, for the application. */
export async function listOwnDevices({ fleet, clock }: Services, input: Own<unknown, OwnDeviceQuery>): Promise<Answer> {
  const { applicationId } = input.params;
  const query = readFleetQuery({ ...input.query, applicationId }, clock.now());
  const { rows: devices, next } = await fleet.list(query);
  const headers = next ? nextPageAfter(input, query, { after: cursorOf(next, query.order) }) : {};
  return { status: 200, headers, body: new JsonSlices({ devices: lazily(devices, deviceRow) }) };
}

/** Lists the transactions of all devices of the application. */
export async function listOwnTransactions(
  { overview, clock }: Services,
  input: Own<unknown, OwnTransactionQuery>,
): Promise<Answer> {
  const { applicationId } = input.params;
  const query = readOverviewQuery({ ...input.query, applicationId }, { now: clock.now(), ...periodOf(input.query) });
  const { rows, next } = await overview.list(query);
  const headers = next === undefined ? {} : nextPageAfter(input, query, { after: next });
  const transactions = lazily(rows, ({ record, warning }) => transactionRow(record, warning));
  return { status: 200, headers, body: new JsonSlices({ transactions }) };
}

/**
 * Reads a transaction by its transactionId, without its device. A transaction of another application is answered as if
 * it did not exist.
 */
export async function readOwnTransaction(
  { overview }: Services,
  { params: { applicationId, transactionId } }: Own<{ transactionId: number }>,
): Promise<Answer> {
  const found = await overview.find(transactionId);
  if (found.record.applicationId !== applicationId) throw new DomainError('TRANSACTION_NOT_FOUND');
  return { status: 200, body: transactionDetail(found) };
}

/** Lists the application's devices that have a version installed, wait for it, or failed to install it. */
export async function listInstallations(
  { software, installations }: Services,
  input: Own<{ package: string; version: string }, OwnInstallationQuery>,
): Promise<Answer> {
  const { params, query, caller } = input;
  const { applicationId, ...name } = params;
  const { since: _since, until: _until, ...page } = query;
  await software.versions.find(caller.developerId, name);
  const { body, next } = await installationBody(
    installations,
    { line: 'software', ...name },
    { ...page, ...periodOf(query), applicationId },
  );
  return { status: 200, headers: next === undefined ? {} : nextPageAfter(input, query, { after: next }), body };
}
