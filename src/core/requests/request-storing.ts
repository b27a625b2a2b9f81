import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { StoredRequest } from './request-repository.ts';
import * as repository from './request-repository.ts';

/** Bounds of a device's stored requests whose answers it does not have yet: their number, and their characters. */
export const STORED = { requests: 256, characters: 256 * 1024 };
/**
 * Microseconds after the PUBACK of an answer. Within them an equal request is a repetition and gets the same answer,
 * unless the answer was an error.
 */
const SAME_WITHIN_MICROS = 60_000_000;

/**
 * Stores a request inside a unit of work, unless it repeats a stored one, and gives it the time with which it is stored.
 * Returns the next step, for after the commit: to carry it out, or to send the stored answer; `busy` when the device has too
 * many requests.
 */
export async function storeRequest(unit: UnitOfWork, request: StoredRequest): Promise<'begin' | 'send' | 'busy'> {
  const { deviceId, requestId } = request;
  const now = request.receivedAt;
  const known = await repository.findRequest(unit, deviceId, requestId);
  const isSame =
    known?.type === request.type && known.data === request.data && known.applicationId === request.applicationId;
  if (known && isSame && known.doneAt === null) {
    request.receivedAt = known.receivedAt;
    return known.answer === null ? 'begin' : 'send';
  }
  const answer = known?.answer ?? null;
  if (
    known &&
    isSame &&
    answer !== null &&
    !('error' in JSON.parse(answer)) &&
    (known.doneAt ?? 0) > now - SAME_WITHIN_MICROS
  ) {
    await repository.setDone(unit, known, null);
    request.receivedAt = known.receivedAt;
    return 'send';
  }
  await repository.forgetDone(unit, deviceId, now - SAME_WITHIN_MICROS);
  const { count, characters } = await repository.measureUnfinished(unit, deviceId);
  if (count >= STORED.requests || characters + request.data.length > STORED.characters) return 'busy';
  if (known) request.receivedAt = Math.max(now, known.receivedAt + 1);
  await repository.putRequest(unit, request);
  return request.answer === null ? 'begin' : 'send';
}
