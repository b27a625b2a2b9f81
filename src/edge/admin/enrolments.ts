import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { ShownBatch } from '../../core/enrolments/batches.ts';
import { type Enrolment, isOpen } from '../../core/enrolments/enrolment.ts';
import { toUtc } from '../../runtime/clock.ts';
import { readMoment } from '../http/moment.ts';
import { NO_STORE } from '../http/no-store.ts';
import { nextPage, nextPageAfter } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import { utcOrNull } from './fleet-devices.ts';
import type { AdminServices, At, List } from './services.ts';

type Services = Pick<AdminServices, 'enrolmentBatches' | 'clock'>;

type Body = SchemaTypes['admin/enrolment-batch'];

function batchBody(batch: ShownBatch, now: number): Body {
  const { batchId, developerId, name, approval, deviceIds, registered, mostDevices, enrolled, pending } = batch;
  return {
    batchId,
    developerId,
    name,
    state: batch.revokedAt !== null ? 'revoked' : isOpen(batch, now) ? 'open' : 'expired',
    approval,
    deviceIds,
    registered,
    claimCertificate: batch.claimCertificate,
    authorityId: batch.authorityId,
    certificateDays: batch.certificateDays,
    mostDevices,
    enrolled,
    pending,
    createdAt: toUtc(batch.createdAt),
    expiresAt: toUtc(batch.expiresAt),
    revokedAt: utcOrNull(batch.revokedAt),
  };
}

const deviceBody = ({ deviceId, state, address, requestedAt, decidedAt }: Enrolment) => ({
  deviceId,
  state,
  address,
  requestedAt: toUtc(requestedAt),
  decidedAt: utcOrNull(decidedAt),
});

/** Makes a batch, and shows its code. */
export async function createEnrolmentBatch(
  { enrolmentBatches, clock }: Services,
  { params, body, changed }: At<'developerId', 'admin/enrolment-batch-create'>,
): Promise<Answer> {
  const { expiresAt, ...wanted } = body;
  const until = readMoment(expiresAt, 'body', 'expiresAt');
  const { batch, code } = await enrolmentBatches.create(params.developerId, { ...wanted, expiresAt: until });
  const shown = batchBody(batch, clock.now());
  const { batchId, name, approval, mostDevices, authorityId } = shown;
  await changed({ batchId, name, approval, mostDevices, authorityId, expiresAt: shown.expiresAt });
  return { status: 201, headers: NO_STORE, body: { ...shown, code } };
}

export async function listEnrolmentBatches(
  { enrolmentBatches, clock }: Services,
  input: List<'developerId'>,
): Promise<Answer> {
  const { batches, total } = await enrolmentBatches.list(input.params.developerId, input.query);
  const rows = batches.map((batch) => batchBody(batch, clock.now()));
  return { status: 200, headers: nextPage(input, input.query, total), body: { batches: rows, total } };
}

export async function readEnrolmentBatch(
  { enrolmentBatches, clock }: Services,
  { params }: At<'batchId'>,
): Promise<Answer> {
  return { status: 200, body: batchBody(await enrolmentBatches.find(params.batchId), clock.now()) };
}

export async function revokeEnrolmentBatch(
  { enrolmentBatches, clock }: Services,
  { params, changed }: At<'batchId'>,
): Promise<Answer> {
  const batch = await enrolmentBatches.revoke(params.batchId);
  const { batchId, name, enrolled, developerId } = batch;
  await changed({ batchId, name, enrolled }, [{ kind: 'developer', id: developerId }]);
  return { status: 200, body: batchBody(batch, clock.now()) };
}

export async function listEnrolments(
  { enrolmentBatches }: Services,
  input: At<'batchId', never, 'admin/enrolment-query'>,
): Promise<Answer> {
  const { limit } = input.query;
  const found = await enrolmentBatches.devices(input.params.batchId, { ...input.query, limit: limit + 1 });
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const headers = found.length > limit && last ? nextPageAfter(input, input.query, { after: last.deviceId }) : {};
  return { status: 200, headers, body: { devices: shown.map(deviceBody) } };
}

export async function approveEnrolment(
  { enrolmentBatches }: Services,
  { params }: At<'batchId' | 'deviceId'>,
): Promise<Answer> {
  return { status: 200, body: deviceBody(await enrolmentBatches.decide(params.batchId, params.deviceId, 'approved')) };
}

export async function refuseEnrolment(
  { enrolmentBatches }: Services,
  { params }: At<'batchId' | 'deviceId'>,
): Promise<Answer> {
  return { status: 200, body: deviceBody(await enrolmentBatches.decide(params.batchId, params.deviceId, 'refused')) };
}
