import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { NO_STORE } from '../http/no-store.ts';
import type { Answer, Input } from '../http/route.ts';
import { isPrivate } from './private-way.ts';
import type { ApiServices } from './services.ts';

type Services = Pick<
  ApiServices,
  'enrolments' | 'enrolmentLimits' | 'proxies' | 'clientCertificates' | 'metrics' | 'renewals'
>;

/** Seconds after which a device that waits for a person should ask again. */
const ASK_AGAIN_SECONDS = 60;

/** The proof of a device: the code of its batch, or its certificate and the name of the batch. */
function proofIn<Shown>({ code, batchId }: SchemaTypes['rest/enrolment-request'], shown: () => Shown) {
  const fault = (type: 'missing' | 'extra_forbidden', name: string, msg: string) =>
    DomainError.invalid({ loc: ['body', name], msg, type });
  if (code !== undefined && batchId !== undefined)
    throw fault('extra_forbidden', 'batchId', 'Input should not be given beside code');
  if (code !== undefined) return { code };
  if (batchId === undefined) throw fault('missing', 'code', 'Field required');
  return { batchId, shown: shown() };
}

/** Counts a request against its limits. Throws RATE_LIMITED. */
function admit(metrics: ApiServices['metrics'], verdicts: readonly ({ waitSeconds: number } | undefined)[]): void {
  const seconds = Math.max(...verdicts.map((verdict) => verdict?.waitSeconds ?? 0));
  if (seconds === 0) return;
  metrics.enrolments.inc({ outcome: 'rate_limited' });
  metrics.httpRefused.inc({ bound: 'enrolment_rate_limit' });
  throw new DomainError('RATE_LIMITED', { values: { seconds } });
}

/**
 * Gives a device its credential, or the certificate that it asks for, for the code of its batch, or for the certificate that it shows. It needs no token: that is the proof. Wrong codes count as
 * wrong credentials of their address.
 */
export async function enrolDevice(
  { enrolments, enrolmentLimits, proxies, clientCertificates, metrics }: Services,
  { body, stream, address, requestId }: Input<unknown, SchemaTypes['rest/enrolment-request']>,
): Promise<Answer> {
  if (!isPrivate(stream, proxies)) throw new DomainError('ENROLMENT_INSECURE');
  const { deviceId, nonce, csr } = body;
  const proof = proofIn(body, () => (clientCertificates.areClaims ? clientCertificates.of(stream) : undefined));
  const { ofBatch, ofDeveloper } = enrolmentLimits;
  const answer = await enrolments.ask({ deviceId, proof, nonce, csr, address, requestId }, ({ batchId, developerId }) =>
    admit(metrics, [ofBatch.take(batchId), ofDeveloper.take(developerId)]),
  );
  if (answer.state === 'pending')
    return { status: 202, headers: { ...NO_STORE, 'Retry-After': String(ASK_AGAIN_SECONDS) }, body: answer };
  const { state: _, ...given } = answer;
  return { status: 201, headers: NO_STORE, body: { deviceId, ...given } };
}

/** Gives a device its next certificate, for the present one, which it shows. */
export async function renewCertificate(
  { renewals, enrolmentLimits, proxies, clientCertificates, metrics }: Services,
  { body, stream, address, requestId }: Input<unknown, SchemaTypes['rest/renewal-request']>,
): Promise<Answer> {
  if (!isPrivate(stream, proxies)) throw new DomainError('ENROLMENT_INSECURE');
  const shown = clientCertificates.areClaims ? clientCertificates.of(stream) : undefined;
  const { ofDevice, ofDeveloper } = enrolmentLimits;
  const given = await renewals.renew({ ...body, shown, address, requestId }, ({ deviceId, developerId }) =>
    admit(metrics, [ofDevice.take(deviceId), ofDeveloper.take(developerId)]),
  );
  return { status: 201, headers: NO_STORE, body: { deviceId: body.deviceId, ...given } };
}
