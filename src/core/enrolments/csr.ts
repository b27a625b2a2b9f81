import type { KeyObject } from 'node:crypto';
import { DomainError, type Fault } from '../../errors.ts';
import { readCertificationRequest } from '../authorities/certification-request.ts';
import type { Batch } from './enrolment.ts';

const fault = (msg: string, type: Fault['type']): DomainError =>
  DomainError.invalid({ loc: ['body', 'csr'], msg, type });

/** The key of a certification request. Throws REQUEST_INVALID for a faulty one. */
export function keyOf(csr: string): KeyObject {
  const key = readCertificationRequest(csr);
  if (typeof key === 'string') throw fault(key, 'string_pattern_mismatch');
  return key;
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
  try {
    if (authorityId === null && csr !== undefined)
      throw fault('Input should not be given: the devices of this batch get a credential', 'extra_forbidden');
    if (authorityId === null) return undefined;
    if (csr === undefined) throw fault('Field required', 'missing');
    return keyOf(csr);
  } catch (error) {
    refused();
    throw error;
  }
}
