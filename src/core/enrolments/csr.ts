import type { KeyObject } from 'node:crypto';
import { DomainError, type Fault } from '@lapel/schemas/contracts/errors';
import { readCertificationRequest } from '../authorities/certification-request.ts';
import type { Batch } from './enrolment.ts';

const fault = (msg: string, type: Fault['type']): DomainError =>
  DomainError.invalid({ loc: ['body', 'csr'], msg, type });

/** The key of a certification request. Throws REQUEST_INVALID for a faulty one, and calls `refused` before. */
export function keyOf(csr: string, refused: () => void): KeyObject {
  const key = readCertificationRequest(csr);
  if (typeof key !== 'string') return key;
  refused();
  throw fault(key, 'string_pattern_mismatch');
}

/**
 * The key for which a device of a batch gets a certificate; undefined in a batch that gives credentials. Throws
 * REQUEST_INVALID, and calls `refused` before, when the batch needs a certification request and there is none or a faulty
 * one, and when it needs none. Only who has proved to belong to the batch may hear so.
 */
export function keyToSign(
  { authorityId }: Pick<Batch, 'authorityId'>,
  csr: string | undefined,
  refused: () => void,
): KeyObject | undefined {
  if (authorityId !== null && csr !== undefined) return keyOf(csr, refused);
  if (authorityId === null && csr === undefined) return undefined;
  refused();
  if (csr === undefined) throw fault('Field required', 'missing');
  throw fault('Input should not be given: the devices of this batch get a credential', 'extra_forbidden');
}
